#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "engine/base/random.h"
#include "engine/disk/disk_directory.h"
#include "engine/object/manifest_codec.h"
#include "engine/store/directory_stripes.h"
#include "engine/store/object_medium.h"

namespace corail {

/// Objects in directories, one per device, stripes round robin over them; the first one has the
/// manifests, too. A put is on the disks when its manifest has got its name:
///
///   stripes    <generation>.stripes on each device: written, synced, their names synced
///   manifest   <hash of the key>-<n>.manifest.tmp: written, synced
///   commit     renamed to <hash of the key>-<n>.manifest; the directory synced
///
/// What has no manifest is debris. `store` says which store and device a directory belongs to, and
/// up to where generations were used; it is replaced before the first of them is.
class DirectoryMedium final : public ObjectMedium {
 public:
  /// At least one directory. `codec` must outlive it; `random` names a new store, in recover().
  /// Manifests are encoded on the workers, if there are any, else on the store's executor.
  DirectoryMedium(DiskDirectories directories, const ManifestCodec& codec, Random& random,
                  asio::any_io_executor workers = {});
  ~DirectoryMedium() override;

  std::uint32_t devices() const noexcept override {
    return static_cast<std::uint32_t>(directories_.size());
  }
  Task<Result<Recovered>> recover() override;
  Task<Result<void>> reserve_generations(std::uint64_t bound) override;
  Task<Result<std::shared_ptr<StripeSet>>> create(ObjectGeneration generation, std::uint64_t size,
                                                  std::uint64_t stripe_size) override;
  Task<Result<void>> write_manifest(const StripingInfo& info) override;
  Task<Result<void>> install_manifest(const std::string& key) override;
  Task<Result<void>> withdraw(const std::string& key) override;

 private:
  /// The name of the key's manifest: the one that it has, or the first that is free.
  std::string name_for(const std::string& key) const;

  const DiskDirectories directories_;
  const ManifestCodec& codec_;
  Random& random_;
  const asio::any_io_executor workers_;
  std::uint64_t store_ = 0;  // which one, see StoreHead
  // Manifests that are there, or may be: of which key, and all their names.
  std::unordered_map<std::string, std::string> name_of_;
  std::unordered_set<std::string> names_;
};

}  // namespace corail
