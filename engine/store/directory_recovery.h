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
#include "engine/store/directory_heads.h"
#include "engine/store/directory_stripes.h"
#include "engine/store/object_medium.h"

namespace corail::detail {

/// What a DirectoryMedium does when it starts: reads every manifest, makes sure that what it read
/// survives a crash, and only then removes what no manifest needs. Used once; what it was given
/// must outlive it.
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
  struct Manifest {
    std::string name;
    StripingInfo info;
  };
  /// A manifest that cannot be served: its file is kept for people, under another name.
  struct Bad {
    std::string name;
    Error why;
  };

  std::uint32_t devices() const { return static_cast<std::uint32_t>(directories_.size()); }
  Task<Result<void>> list();
  Task<Result<void>> read_manifests();
  Task<Result<void>> read_manifest(std::string name, std::uint64_t bytes);
  void sort_out();
  void choose();
  Task<Result<void>> set_bad_aside();
  Task<Result<void>> remove_obsolete();
  Task<void> remove_debris();
  /// Why the object cannot be read although its manifest can: its stripes are not all there.
  Result<void> check_stripes(const StripingInfo& info) const;
  Task<void> remove(std::size_t device, std::string name);
  void refuse(const std::string& name, const Error& why);

  const DiskDirectories& directories_;
  const ManifestCodec& codec_;
  Random& random_;
  std::vector<DirectoryFiles> files_;  // by device
  std::uint64_t store_ = 0;
  std::uint64_t unused_generation_ = 1;
  std::vector<Manifest> manifests_;
  std::vector<Bad> bad_;
  std::vector<std::string> obsolete_;
  /// Stripes of lesser generations may belong to a manifest that could not be read.
  std::uint64_t known_from_ = 0;
  std::map<std::string, Manifest> objects_;  // by key
  std::unordered_map<std::string, std::string> name_of_;
  std::unordered_set<std::string> names_;
  Recovered found_;
};

}  // namespace corail::detail
