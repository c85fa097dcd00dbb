#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/disk/disk_directory.h"
#include "engine/exec/task.h"
#include "engine/object/manifest_codec.h"

namespace corail::detail {

/// Bytes by name, of one directory.
using DirectoryFiles = std::map<std::string, std::uint64_t>;

/// Tells a store's own directories from others, and makes a new store where there is none. Used
/// once; what it was given must outlive it.
class DirectoryHeads {
 public:
  /// `files` are what each directory has.
  DirectoryHeads(const DiskDirectories& directories, const std::vector<DirectoryFiles>& files,
                 const ManifestCodec& codec, Random& random)
      : directories_(directories), files_(files), codec_(codec), random_(random) {}

  /// The first directory's head, once all directories have theirs and agree. kStoreFailed: they
  /// belong to another store, are in another order, or cannot be read or written; kBadManifest.
  Task<Result<StoreHead>> establish();

 private:
  std::uint32_t devices() const { return static_cast<std::uint32_t>(directories_.size()); }
  bool has(std::size_t device, std::string_view name) const;
  Task<Result<StoreHead>> read(std::size_t device, std::string name);
  Task<Result<void>> check_new(std::optional<std::uint64_t> unfinished);
  Task<Result<StoreHead>> make_new();
  Task<Result<void>> write(std::size_t device, std::string name, StoreHead head);
  Task<Result<StoreHead>> read_all();

  const DiskDirectories& directories_;
  const std::vector<DirectoryFiles>& files_;
  const ManifestCodec& codec_;
  Random& random_;
};

}  // namespace corail::detail
