#include "engine/store/directory_recovery.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "engine/store/record_file.h"
#include "engine/store/store_names.h"

namespace corail::detail {

Task<Result<Recovered>> DirectoryRecovery::run() {
  auto listed = co_await list();
  if (!listed) co_return std::move(listed).error();
  if (!files_[0].contains(std::string(kHeadName))) {
    if (auto is_new = check_new(); !is_new) co_return std::move(is_new).error();
    auto made = co_await make_new();
    if (!made) co_return std::move(made).error();
  } else {
    auto read = co_await read_heads();
    if (!read) co_return std::move(read).error();
  }
  for (const auto& [name, bytes] : files_[0]) {
    if (is_manifest(name)) co_await read_manifest(name, bytes);
  }
  co_await remove_debris();
  for (auto& [key, info] : objects_) {
    const ObjectDescriptor& object = info.object;
    unused_generation_ = std::max(unused_generation_, object.generation.value() + 1);
    auto stripes = std::make_shared<DirectoryStripes>(directories_, object.generation, object.size,
                                                      object.stripe_size);
    found_.objects.push_back({std::move(info), std::move(stripes)});
  }
  found_.unused_generation = unused_generation_;
  co_return std::move(found_);
}

Task<Result<void>> DirectoryRecovery::list() {
  for (std::size_t device = 0; device < directories_.size(); ++device) {
    const auto entries = co_await directories_[device]->list();
    if (!entries) co_return entries.error();
    for (const DirectoryEntry& entry : *entries) files_[device][entry.name] = entry.bytes;
  }
  co_return ok_result();
}

Result<void> DirectoryRecovery::check_new() const {
  for (std::size_t device = 0; device < directories_.size(); ++device) {
    for (const auto& [name, bytes] : files_[device]) {
      if (!is_manifest(name) && !generation_of(name)) continue;
      return Error(Errc::kStoreFailed,
                   fmt::format("{} has the file {} of a store, but {} does not say which store it "
                               "is: check that the directories are all mounted, and in order",
                               directories_[device]->path(), name, directories_[0]->path()));
    }
  }
  return ok_result();
}

Task<Result<void>> DirectoryRecovery::make_new() {
  store_ = random_.next();
  // The first directory comes last: once it has its head, all have theirs.
  for (std::uint32_t device = devices(); device-- > 0;) {
    const StoreHead head{store_, device, devices(), unused_generation_};
    auto written = co_await write_record(*directories_[device], std::string(kHeadName),
                                         codec_.encode_head(head));
    if (!written) co_return std::move(written).error();
    auto installed = co_await install_record(*directories_[device], std::string(kHeadName));
    if (!installed) co_return std::move(installed).error();
  }
  co_return ok_result();
}

Task<Result<void>> DirectoryRecovery::read_heads() {
  for (std::uint32_t device = 0; device < devices(); ++device) {
    const std::string path = directories_[device]->path();
    const auto file = files_[device].find(std::string(kHeadName));
    if (file == files_[device].end()) {
      co_return Error(Errc::kStoreFailed,
                      fmt::format("{} is no directory of the store in {}: check that it is mounted",
                                  path, directories_[0]->path()));
    }
    const std::uint64_t bytes = std::min(file->second, kMaxManifestBytes + 1);
    const auto content = co_await read_record(*directories_[device], file->first, bytes);
    if (!content) co_return content.error();
    const auto head = codec_.decode_head(*content);
    if (!head) {
      co_return Error(head.error().code(),
                      fmt::format("{}/{}: {}", path, kHeadName, head.error().detail()));
    }
    if (device == 0) {
      store_ = head->store;
      unused_generation_ = head->unused_generation;
    }
    if (head->store != store_ || head->device != device || head->devices != devices()) {
      co_return Error(
          Errc::kStoreFailed,
          fmt::format("{} is device {} of the {} of store {:016x}, where device {} of "
                      "the {} of store {:016x} is expected: give the same directories "
                      "in the same order as before",
                      path, head->device, head->devices, head->store, device, devices(), store_));
    }
  }
  co_return ok_result();
}

Task<void> DirectoryRecovery::read_manifest(std::string name, std::uint64_t bytes) {
  names_.insert(name);
  // One byte more than is allowed is enough for the codec to say so.
  const std::uint64_t length = std::min(bytes, kMaxManifestBytes + 1);
  const auto content = co_await read_record(*directories_[0], name, length);
  auto info = content ? codec_.decode(*content) : Result<StripingInfo>(content.error());
  if (!info) {
    all_known_ = false;
    refuse(name, info.error());
    co_return;
  }
  needed_.insert(info->object.generation);
  unused_generation_ = std::max(unused_generation_, info->object.generation.value() + 1);
  if (auto own = check_own(*info, name); !own) {
    refuse(name, own.error());
    co_return;
  }
  co_await keep(std::move(*info), std::move(name));
}

Result<void> DirectoryRecovery::check_own(const StripingInfo& info, const std::string& name) const {
  const ObjectDescriptor& object = info.object;
  if (!is_manifest_of(name, object.key)) {
    return Error(Errc::kBadManifest,
                 fmt::format("it is of object '{}', which another name belongs to", object.key));
  }
  for (std::uint32_t i = 0; i < object.chunks.size(); ++i) {
    const ObjectChunk& chunk = object.chunks[i];
    const StripePlace place = round_robin_place(i, object.stripe_size, devices());
    if (chunk.node == info.home && StripePlace{chunk.device, chunk.offset} == place) continue;
    return Error(
        Errc::kBadManifest,
        fmt::format("it has stripe {} at byte {} of device {} of node {}, where byte {} of "
                    "device {} of node {} is expected",
                    i, chunk.offset, chunk.device, chunk.node, place.offset, place.device,
                    info.home));
  }
  const auto expected = bytes_on_devices(object.size, object.stripe_size, devices());
  for (std::uint32_t device = 0; device < devices(); ++device) {
    if (expected[device] == 0) continue;
    const std::string stripes = stripes_name(object.generation);
    const auto file = files_[device].find(stripes);
    const std::uint64_t bytes = file == files_[device].end() ? 0 : file->second;
    if (bytes >= expected[device]) continue;
    return Error(Errc::kStripeLost, fmt::format("{}/{} has {} of the {} bytes of object '{}'",
                                                directories_[device]->path(), stripes, bytes,
                                                expected[device], object.key));
  }
  return ok_result();
}

Task<void> DirectoryRecovery::keep(StripingInfo info, std::string name) {
  const std::string key = info.object.key;
  const auto other = objects_.find(key);
  if (other == objects_.end()) {
    name_of_[key] = std::move(name);
    objects_.emplace(key, std::move(info));
    co_return;
  }
  // Only where an earlier start could not read the one, and the key was put again.
  std::string older = std::move(name);
  ObjectGeneration obsolete = info.object.generation;
  if (other->second.object.generation < obsolete) {
    obsolete = other->second.object.generation;
    std::swap(name_of_[key], older);
    other->second = std::move(info);
  }
  needed_.erase(obsolete);
  co_await remove(0, older);
  // A delete of the key must not bring it back.
  const auto synced = co_await directories_[0]->sync();
  if (!synced) refuse(older, synced.error());
  names_.erase(older);
}

Task<void> DirectoryRecovery::remove_debris() {
  for (std::size_t device = 0; device < directories_.size(); ++device) {
    for (const auto& [name, bytes] : files_[device]) {
      const auto generation = generation_of(name);
      const bool unneeded = generation && all_known_ && !needed_.contains(*generation);
      if (unneeded || is_temporary(name)) co_await remove(device, name);
    }
  }
}

Task<void> DirectoryRecovery::remove(std::size_t device, std::string name) {
  const auto removed = co_await directories_[device]->remove(std::move(name));
  // What stays is harmless: nothing refers to it, and the next start tries again.
  if (removed) ++found_.removed_files;
}

void DirectoryRecovery::refuse(const std::string& name, const Error& why) {
  found_.refused.emplace_back(
      why.code(), fmt::format("{}/{}: {}", directories_[0]->path(), name, why.detail()));
}

}  // namespace corail::detail
