#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/ids.h"
#include "engine/plan/lane_range.h"

namespace corail::detail {

/// What a lease is about, for whoever serves it. Shared by the lease and by every pin of an
/// admitted range, and keeps the bytes in place until the last of them is gone, which may be on any
/// thread (I6). Any thread.
class LeasedRanges {
 public:
  virtual ~LeasedRanges() = default;

  /// The range, if all of it was leased. Every argument is remote input (I5).
  virtual std::optional<std::span<const std::byte>> find(RegionId region, std::uint64_t offset,
                                                         std::uint64_t length) const = 0;

  /// Of how many lanes the blocks are; 0 where there are no blocks.
  virtual std::uint32_t lanes() const noexcept { return 0; }
  /// Per block, in the order of the prefix: what the checksum terms of the lanes add up to, as they
  /// were at save. `lanes` is within lanes() and not empty.
  virtual std::vector<std::uint64_t> lane_sums(LaneRange /*lanes*/) const { return {}; }
};

}  // namespace corail::detail
