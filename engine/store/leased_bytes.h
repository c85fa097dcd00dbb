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
#include "engine/store/part_runs.h"

namespace corail::detail {

/// The bytes that a lease is about. Held by the lease and by every pin of an admitted range: the
/// extents live until the last of them is gone, so what is being sent survives the lease (I6).
/// Immutable but for the intervals, which are built once; any thread.
class LeasedBytes {
 public:
  LeasedBytes(std::vector<std::shared_ptr<const Extent>> extents, PartRuns runs)
      : extents_(std::move(extents)), runs_(std::move(runs)) {}

  /// The range, if all of it was leased. Every argument is remote input (I5). The first call sorts
  /// and fuses the intervals; the rest is O(log intervals).
  std::optional<std::span<const std::byte>> find(RegionId region, std::uint64_t offset,
                                                 std::uint64_t length) const;

  /// Of how many lanes the blocks are.
  std::uint32_t lanes() const noexcept;
  /// Per block, in the order of the prefix: what the checksum terms of the lanes add up to, as they
  /// were at save. `lanes` is within lanes() and not empty. Its cost grows with blocks and parts.
  std::vector<std::uint64_t> lane_sums(LaneRange lanes) const;

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
