#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "engine/base/result.h"
#include "engine/plan/layout.h"
#include "engine/store/store_types.h"

namespace corail::detail {

/// The lanes that one saver writes into one node's memory, ascending, and where each starts within
/// the part of one block.
struct Part {
  std::vector<std::uint32_t> lanes;
  std::vector<std::uint64_t> offset;  // prefix sums of the lanes' bytes
  std::uint64_t bytes = 0;            // of the part of one block
  bool uniform = true;                // all lanes have the same bytes
};

/// How a layout's lanes are divided into parts. Immutable, interned, shared between threads.
struct Partition {
  std::shared_ptr<const Layout> layout;
  std::vector<std::uint32_t> part_of;  // per lane
  std::vector<std::uint32_t> rank_of;  // per lane: its index in Part::lanes
  std::vector<Part> parts;
};

/// Where the segments of one part lie within an extent: all that differs between two extents of one
/// shape is where they begin. Immutable, interned so that equal shapes are one pointer.
class Shape {
 public:
  /// `blocks`: of the extent. Block-major shapes of any length are the same; so are lane-major ones
  /// with one lane or one block.
  Shape(std::shared_ptr<const Partition> partition, std::uint32_t part, BlockOrder order,
        std::uint32_t blocks)
      : partition_(std::move(partition)),
        part_(&partition_->parts[part]),
        order_(order),
        scale_(order == BlockOrder::kLaneMajor ? blocks : 1) {}

  const std::shared_ptr<const Partition>& partition() const noexcept { return partition_; }
  const Part& part() const noexcept { return *part_; }
  BlockOrder order() const noexcept { return order_; }

  /// From the extent's base to the lane's segment of block 0. `rank` is the lane's in the part.
  std::uint64_t offset(std::uint32_t rank) const noexcept { return part_->offset[rank] * scale_; }
  /// From one block's segment to the next one's.
  std::uint64_t stride(std::uint32_t rank) const noexcept {
    return order_ == BlockOrder::kBlockMajor ? part_->bytes : lane_bytes(rank);
  }
  std::uint32_t lane_bytes(std::uint32_t rank) const noexcept {
    return partition_->layout->lane_bytes()[part_->lanes[rank]];
  }
  /// Whether all lanes of the part have one stride; then uniform_stride() is it.
  bool uniform() const noexcept { return order_ == BlockOrder::kBlockMajor || part_->uniform; }
  std::uint64_t uniform_stride() const noexcept { return stride(0); }

 private:
  std::shared_ptr<const Partition> partition_;
  const Part* part_;
  BlockOrder order_;
  std::uint64_t scale_;
};

/// Makes equal layouts, partitions and shapes one object each, so that the scan compares pointers.
/// Holds them weakly: what no block, save or caller uses any more goes away. Owned by the store,
/// home executor only.
class ShapeBook {
 public:
  std::shared_ptr<const Layout> intern(Layout layout);

  /// `part_of_lane` empty means one part. Fails with kInvalidArgument when its size is not the
  /// number of lanes, a part is out of range, or one has no lane.
  Result<std::shared_ptr<const Partition>> partition(std::shared_ptr<const Layout> layout,
                                                     std::span<const std::uint32_t> part_of_lane,
                                                     std::size_t parts);

  std::shared_ptr<const Shape> shape(const std::shared_ptr<const Partition>& partition,
                                     std::uint32_t part, BlockOrder order, std::uint32_t blocks);

  /// Entries of all kinds, dead ones included; for tests of their bound.
  std::size_t size() const noexcept {
    return layouts_.size() + partitions_.size() + shapes_.size();
  }

 private:
  using ShapeKey = std::tuple<const Partition*, std::uint32_t, BlockOrder, std::uint32_t>;

  void sweep();

  std::unordered_multimap<std::uint64_t, std::weak_ptr<const Layout>> layouts_;
  std::unordered_multimap<std::uint64_t, std::weak_ptr<const Partition>> partitions_;
  std::map<ShapeKey, std::weak_ptr<const Shape>> shapes_;
  std::size_t sweep_at_ = 64;
};

}  // namespace corail::detail
