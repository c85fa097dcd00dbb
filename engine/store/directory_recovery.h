#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/disk/disk_directory.h"
#include "engine/exec/task.h"
#include "engine/object/manifest_codec.h"
#include "engine/store/directory_stripes.h"
#include "engine/store/object_medium.h"

namespace corail::detail {

/// What a DirectoryMedium does when it starts: tells its own directories from others, makes a new
/// store where there is none, reads every manifest, and removes what no manifest needs. Used once;
/// what it was given must outlive it.
class DirectoryRecovery {
 public:
  DirectoryRecovery(const DiskDirectories& directories, const ManifestCodec& codec, Random& random)
      : directories_(directories), codec_(codec), random_(random), files_(directories.size()) {}

  Task<Result<Recovered>> run();

  /// After run() has succeeded.
  std::uint64_t store() const noexcept { return store_; }
  std::unordered_map<std::string, std::string> take_name_of() { return std::move(name_of_); }
  std::unordered_set<std::string> take_names() { return std::move(names_); }

 private:
  using Files = std::map<std::string, std::uint64_t>;  // bytes by name

  std::uint32_t devices() const { return static_cast<std::uint32_t>(directories_.size()); }
  Task<Result<void>> list();
  Result<void> check_new() const;
  Task<Result<void>> make_new();
  Task<Result<void>> read_heads();
  Task<void> read_manifest(std::string name, std::uint64_t bytes);
  Result<void> check_own(const StripingInfo& info, const std::string& name) const;
  Task<void> keep(StripingInfo info, std::string name);
  Task<void> remove_debris();
  Task<void> remove(std::size_t device, std::string name);
  void refuse(const std::string& name, const Error& why);

  const DiskDirectories& directories_;
  const ManifestCodec& codec_;
  Random& random_;
  std::vector<Files> files_;  // by device
  std::uint64_t store_ = 0;
  std::uint64_t unused_generation_ = 1;
  std::map<std::string, StripingInfo> objects_;  // by key
  std::set<ObjectGeneration> needed_;            // whose stripes stay
  bool all_known_ = true;                        // whose stripes are needed
  std::unordered_map<std::string, std::string> name_of_;
  std::unordered_set<std::string> names_;
  Recovered found_;
};

}  // namespace corail::detail
