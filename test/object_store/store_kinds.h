#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/units.h"
#include "engine/memory/region_registry.h"
#include "engine/store/directory_medium.h"
#include "engine/store/memory_medium.h"
#include "engine/store/object_memory.h"
#include "rpc/manifest/codec_manifest.h"
#include "test/disk/simulated_disk.h"

namespace corail::test {

/// What every store must do is tested over each of these, and those of on_local_disk.h. A kind
/// makes the medium of a store that runs on the executor, and says whether anything is left of
/// objects.
class InMemory {
 public:
  static constexpr std::uint64_t kCapacity = 16 * kMiB;

  /// A new life of the process, as far as a store can tell, in the same memory.
  std::unique_ptr<ObjectMedium> medium(const asio::any_io_executor&) {
    return std::make_unique<MemoryMedium>(memory_, BootId(++boots_));
  }
  bool nothing_left() const { return memory_->free_bytes() == memory_->capacity_bytes(); }
  const RegionRegistry& registry() const noexcept { return registry_; }
  ObjectMemory& memory() noexcept { return *memory_; }

 private:
  static ObjectMemoryOptions options() {
    ObjectMemoryOptions options;
    options.nodes = {{0, kCapacity}};
    return options;
  }

  RegionRegistry registry_;
  std::uint64_t boots_ = 0;
  const std::shared_ptr<ObjectMemory> memory_ = *ObjectMemory::create(options(), registry_);
};

/// Three directories of a machine that may crash.
class OnSimulatedDisk {
 public:
  static constexpr std::uint32_t kDevices = 3;

  explicit OnSimulatedDisk(std::uint64_t seed = 1) : random_(seed), disk_(seed) {}

  std::unique_ptr<ObjectMedium> medium(const asio::any_io_executor&) {
    DiskDirectories directories;
    for (std::uint32_t i = 0; i < kDevices; ++i) directories.push_back(disk_.directory(path(i)));
    return std::make_unique<DirectoryMedium>(std::move(directories), codec_, random_);
  }
  static std::string path(std::uint32_t device) { return "/disk" + std::to_string(device); }
  /// Names of the files that are no store's head, of all directories.
  std::vector<std::string> files() const {
    std::vector<std::string> all;
    for (std::uint32_t i = 0; i < kDevices; ++i) {
      for (const std::string& name : disk_.names(path(i))) {
        if (name != "store") all.push_back(path(i) + "/" + name);
      }
    }
    return all;
  }
  bool nothing_left() const { return files().empty(); }
  SimulatedDisk& disk() noexcept { return disk_; }

 private:
  ProtobufManifestCodec codec_;
  SeededRandom random_;
  SimulatedDisk disk_;
};

}  // namespace corail::test
