#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/ids.h"
#include "engine/plan/lane_range.h"
#include "engine/store/arena.h"
#include "engine/store/leased_ranges.h"
#include "engine/store/part_runs.h"

namespace corail::detail {

/// The blocks that a lease is about: their extents live until the lease and the last pin are gone,
/// so what is being sent survives the lease (I6). Immutable but for the intervals, which are built
/// once.
class LeasedBytes final : public LeasedRanges {
 public:
  LeasedBytes(std::vector<std::shared_ptr<const Extent>> extents, PartRuns runs)
      : extents_(std::move(extents)), runs_(std::move(runs)) {}

  /// The first call sorts and fuses the intervals; the rest is O(log intervals).
  std::optional<std::span<const std::byte>> find(RegionId region, std::uint64_t offset,
                                                 std::uint64_t length) const override;

  std::uint32_t lanes() const noexcept override;
  /// Its cost grows with blocks and parts.
  std::vector<std::uint64_t> lane_sums(LaneRange lanes) const override;

 private:
  struct Interval {
    RegionId region;
    std::uint64_t begin = 0;  // from the region's base
    std::uint64_t end = 0;
    const std::byte* data = nullptr;  // at `begin`
  };

  void build() const;

  const std::vector<std::shared_ptr<const Extent>> extents_;
  const PartRuns runs_;
  mutable std::once_flag built_;
  mutable std::vector<Interval> intervals_;
};

}  // namespace corail::detail
