#include "engine/store/directory_heads.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/store/record_file.h"
#include "engine/store/store_names.h"

namespace corail::detail {

bool DirectoryHeads::has(std::size_t device, std::string_view name) const {
  return files_[device].contains(std::string(name));
}

Task<Result<StoreHead>> DirectoryHeads::establish() {
  const bool unfinished = has(0, kUnfinishedName);
  if (!has(0, kHeadName)) {
    auto made = co_await make_new();
    co_return made;
  }
  auto head = co_await read_all();
  if (!head) co_return head;
  // Made completely: only the mark is left of a crash.
  if (unfinished) {
    const auto removed = co_await directories_[0]->remove(std::string(kUnfinishedName));
    if (!removed) co_return removed.error();
  }
  co_return head;
}

Task<Result<StoreHead>> DirectoryHeads::read(std::size_t device, std::string name) {
  const std::string path = directories_[device]->path() + "/" + name;
  const std::uint64_t bytes = std::min(files_[device].at(name), kMaxManifestBytes + 1);
  const auto content = co_await read_record(*directories_[device], std::move(name), bytes);
  if (!content) co_return content.error();
  auto head = codec_.decode_head(*content);
  if (!head) {
    co_return Error(head.error().code(), fmt::format("{}: {}", path, head.error().detail()));
  }
  if (head->unused_generation > kMaxObjectGeneration) {
    co_return Error(Errc::kBadManifest,
                    fmt::format("{}: it says that generations up to {} have been used, more than "
                                "there are",
                                path, head->unused_generation));
  }
  co_return head;
}

Task<Result<void>> DirectoryHeads::check_new(std::optional<std::uint64_t> unfinished) {
  for (std::size_t device = 0; device < directories_.size(); ++device) {
    for (const auto& [name, bytes] : files_[device]) {
      bool strange = is_manifest(name) || generation_of(name) || bound_of_bad(name);
      if (name == kHeadName) {
        // A head that the store which was being made wrote is its own; any other one says that the
        // first directory is the wrong one.
        strange = true;
        if (unfinished) {
          const auto head = co_await read(device, name);
          if (!head) co_return head.error();
          strange = head->store != *unfinished;
        }
      }
      if (!strange) continue;
      co_return Error(Errc::kStoreFailed,
                      fmt::format("{} has the file {} of a store, but {} does not say which store "
                                  "it is: check that the directories are all mounted, and in order",
                                  directories_[device]->path(), name, directories_[0]->path()));
    }
  }
  co_return ok_result();
}

Task<Result<StoreHead>> DirectoryHeads::make_new() {
  StoreHead first{random_.next(), 0, devices(), 1};
  std::optional<std::uint64_t> unfinished;
  if (has(0, kUnfinishedName)) {
    const auto begun = co_await read(0, std::string(kUnfinishedName));
    if (!begun) co_return begun.error();
    unfinished = begun->store;
    first.store = begun->store;
  }
  auto is_new = co_await check_new(unfinished);
  if (!is_new) co_return std::move(is_new).error();
  // First it is said whose heads the others are, so that a crash leaves none that nobody knows; the
  // first directory's own comes last: once it is there, all are.
  auto written = co_await write(0, std::string(kUnfinishedName), first);
  if (!written) co_return std::move(written).error();
  for (std::uint32_t device = devices(); device-- > 0;) {
    StoreHead head = first;
    head.device = device;
    written = co_await write(device, std::string(kHeadName), head);
    if (!written) co_return std::move(written).error();
  }
  const auto removed = co_await directories_[0]->remove(std::string(kUnfinishedName));
  if (!removed) co_return removed.error();
  co_return first;
}

Task<Result<void>> DirectoryHeads::write(std::size_t device, std::string name, StoreHead head) {
  auto written = co_await write_record(*directories_[device], name, codec_.encode_head(head));
  if (!written) co_return written;
  auto installed = co_await install_record(*directories_[device], std::move(name));
  co_return installed;
}

Task<Result<StoreHead>> DirectoryHeads::read_all() {
  StoreHead first;
  for (std::uint32_t device = 0; device < devices(); ++device) {
    const std::string path = directories_[device]->path();
    if (!has(device, kHeadName)) {
      co_return Error(Errc::kStoreFailed,
                      fmt::format("{} is no directory of the store in {}: check that it is mounted",
                                  path, directories_[0]->path()));
    }
    const auto head = co_await read(device, std::string(kHeadName));
    if (!head) co_return head.error();
    if (device == 0) first = *head;
    if (head->store == first.store && head->device == device && head->devices == devices()) {
      continue;
    }
    co_return Error(Errc::kStoreFailed,
                    fmt::format("{} is device {} of the {} of store {:016x}, where device {} of "
                                "the {} of store {:016x} is expected: give the same directories "
                                "in the same order as before",
                                path, head->device, head->devices, head->store, device, devices(),
                                first.store));
  }
  co_return first;
}

}  // namespace corail::detail
