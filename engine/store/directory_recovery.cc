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
  DirectoryHeads heads(directories_, files_, codec_, random_);
  const auto head = co_await heads.establish();
  if (!head) co_return head.error();
  store_ = head->store;
  unused_generation_ = head->unused_generation;
  auto read = co_await read_manifests();
  if (!read) co_return std::move(read).error();
  // A process that ended between a rename and its sync has left names that a power loss takes back.
  // Nothing is removed on the word of such a manifest.
  auto synced = co_await directories_[0]->sync();
  if (!synced) co_return std::move(synced).error();
  sort_out();
  choose();
  auto aside = co_await set_bad_aside();
  if (!aside) co_return std::move(aside).error();
  auto removed = co_await remove_obsolete();
  if (!removed) co_return std::move(removed).error();
  co_await remove_debris();
  for (auto& [key, manifest] : objects_) {
    const ObjectDescriptor& object = manifest.info.object;
    RecoveredObject recovered;
    if (auto sound = check_stripes(manifest.info); !sound) {
      refuse(manifest.name, sound.error());
      recovered.lost = found_.refused.back();
    }
    recovered.stripes = std::make_shared<DirectoryStripes>(directories_, object.generation,
                                                           object.size, object.stripe_size);
    recovered.info = std::move(manifest.info);
    found_.objects.push_back(std::move(recovered));
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

Task<Result<void>> DirectoryRecovery::read_manifests() {
  for (const auto& [name, bytes] : files_[0]) {
    if (const auto bound = bound_of_bad(name)) {
      known_from_ = std::max(known_from_, *bound);
      refuse(name, Error(Errc::kBadManifest,
                         fmt::format("an earlier start could not read it; until it is taken away "
                                     "no stripes of generations below {} are removed",
                                     *bound)));
    }
    if (!is_manifest(name)) continue;
    auto read = co_await read_manifest(name, bytes);
    if (!read) co_return read;
  }
  co_return ok_result();
}

Task<Result<void>> DirectoryRecovery::read_manifest(std::string name, std::uint64_t bytes) {
  // One byte more than is allowed is enough for the codec to say so.
  const std::uint64_t length = std::min(bytes, kMaxManifestBytes + 1);
  const auto content = co_await read_record(*directories_[0], name, length);
  // Not a word about the manifest: to go on without it would hide its object, and give its name and
  // its stripes to others.
  if (!content) co_return content.error();
  auto info = codec_.decode(*content);
  if (!info) {
    bad_.push_back({std::move(name), std::move(info).error()});
    co_return ok_result();
  }
  unused_generation_ = std::max(unused_generation_, info->object.generation.value() + 1);
  if (is_manifest_of(name, info->object.key)) {
    manifests_.push_back({std::move(name), std::move(*info)});
    co_return ok_result();
  }
  bad_.push_back(
      {std::move(name),
       Error(Errc::kBadManifest, fmt::format("it is of object '{}', which another name belongs to",
                                             info->object.key))});
  co_return ok_result();
}

void DirectoryRecovery::sort_out() {
  // A generation names one put, and its stripes: manifests that claim the same one cannot all be
  // right, unless they are the same.
  std::map<ObjectGeneration, std::vector<Manifest>> claims;
  for (Manifest& manifest : manifests_) {
    claims[manifest.info.object.generation].push_back(std::move(manifest));
  }
  manifests_.clear();
  for (auto& [generation, group] : claims) {
    const bool same = std::ranges::all_of(
        group, [&group](const Manifest& other) { return other.info == group.front().info; });
    if (same) {
      for (std::size_t i = 1; i < group.size(); ++i) obsolete_.push_back(group[i].name);
      manifests_.push_back(std::move(group.front()));
      continue;
    }
    for (Manifest& manifest : group) {
      bad_.push_back({std::move(manifest.name),
                      Error(Errc::kBadManifest,
                            fmt::format("it says that generation {} is of object '{}', and another "
                                        "manifest says something else",
                                        generation.value(), manifest.info.object.key))});
    }
  }
}

void DirectoryRecovery::choose() {
  // By generation, ascending: the last one of a key counts. There is another one only where an
  // earlier start could not read it, the key was put again, and somebody mended it.
  for (Manifest& manifest : manifests_) {
    const std::string key = manifest.info.object.key;
    const auto [at, first] = objects_.try_emplace(key);
    if (!first) obsolete_.push_back(at->second.name);
    at->second = std::move(manifest);
  }
  for (const auto& [key, manifest] : objects_) {
    name_of_[key] = manifest.name;
    names_.insert(manifest.name);
  }
}

Task<Result<void>> DirectoryRecovery::set_bad_aside() {
  if (bad_.empty()) co_return ok_result();
  known_from_ = unused_generation_;
  for (const Bad& bad : bad_) {
    const std::string aside = bad_name(bad.name, unused_generation_);
    auto renamed = co_await directories_[0]->rename(bad.name, aside);
    if (!renamed) co_return renamed;
    refuse(bad.name,
           Error(bad.why.code(), fmt::format("{}; it is now {}", bad.why.detail(), aside)));
  }
  // Its name is about to be free for the next put of the key; it must not come back under it.
  auto synced = co_await directories_[0]->sync();
  co_return synced;
}

Task<Result<void>> DirectoryRecovery::remove_obsolete() {
  if (obsolete_.empty()) co_return ok_result();
  for (const std::string& name : obsolete_) co_await remove(0, name);
  // A delete of the key must not bring it back.
  auto synced = co_await directories_[0]->sync();
  co_return synced;
}

Task<void> DirectoryRecovery::remove_debris() {
  std::set<ObjectGeneration> needed;
  for (const auto& [key, manifest] : objects_) needed.insert(manifest.info.object.generation);
  for (std::size_t device = 0; device < directories_.size(); ++device) {
    for (const auto& [name, bytes] : files_[device]) {
      const auto generation = generation_of(name);
      const bool unneeded =
          generation && generation->value() >= known_from_ && !needed.contains(*generation);
      if (unneeded || is_temporary(name)) co_await remove(device, name);
    }
  }
}

Result<void> DirectoryRecovery::check_stripes(const StripingInfo& info) const {
  const ObjectDescriptor& object = info.object;
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
