#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/disk/disk_directory.h"
#include "engine/object/placement.h"
#include "engine/store/object_medium.h"

namespace corail::detail {

/// How many bytes of an object lie on each of `devices` directories, whose stripes go round robin.
std::vector<std::uint64_t> bytes_on_devices(std::uint64_t size, std::uint64_t stripe_size,
                                            std::uint32_t devices);

/// The stripes of one generation: a file on each device that has any. Files are open while a put
/// writes, and each read opens its own, so that many objects need no descriptors.
class DirectoryStripes final : public StripeSet {
 public:
  /// `directories` must outlive it.
  DirectoryStripes(const DiskDirectories& directories, ObjectGeneration generation,
                   std::uint64_t size, std::uint64_t stripe_size);

  /// Makes the files, which must not be there yet. After a failure those that were made are
  /// removed.
  Task<Result<void>> create();

  Task<Result<void>> write(std::uint32_t stripe, std::uint64_t offset,
                           std::span<const std::byte> bytes) override;
  Task<Result<void>> read(std::uint32_t stripe, std::uint64_t offset,
                          std::span<std::byte> into) override;
  Task<Result<void>> sync() override;
  Task<void> remove() override;
  std::string where(std::uint32_t stripe) const override;

 private:
  Task<void> remove_first(std::size_t devices);
  StripePlace place(std::uint32_t stripe) const noexcept {
    return round_robin_place(stripe, stripe_size_, static_cast<std::uint32_t>(directories_.size()));
  }

  const DiskDirectories& directories_;
  const std::string name_;
  const std::uint64_t stripe_size_;
  const std::size_t used_;                        // devices that have a stripe: the first ones
  std::vector<std::shared_ptr<DiskFile>> files_;  // while a put writes, by device
};

}  // namespace corail::detail
