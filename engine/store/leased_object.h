#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/ids.h"
#include "engine/store/leased_ranges.h"
#include "engine/store/object_medium.h"

namespace corail::detail {

/// The object that a lease is about: with its stripes pinned, where they are in memory, so that
/// what is being sent survives the lease (I6). Immutable.
class LeasedObject final : public LeasedRanges {
 public:
  /// `lease` is the store's.
  LeasedObject(LeaseId lease, bool must_be_current, std::vector<StripeMemory> stripes);

  LeaseId lease() const noexcept { return lease_; }
  /// Whether it is no longer good once the key has another generation.
  bool must_be_current() const noexcept { return must_be_current_; }

  /// Inside one stripe. O(log stripes).
  std::optional<std::span<const std::byte>> find(RegionId region, std::uint64_t offset,
                                                 std::uint64_t length) const override;

 private:
  const LeaseId lease_;
  const bool must_be_current_;
  std::vector<StripeMemory> stripes_;  // by region and place in it
};

}  // namespace corail::detail
