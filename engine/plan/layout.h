#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/result.h"

namespace corail {

/// The most slots of a layout, and the most bytes of one segment (I8). Together they keep the bytes
/// of a block below 2^47, so that sums over the lanes of a layout cannot overflow.
inline constexpr std::size_t kMaxSlots = 65'536;
inline constexpr std::uint32_t kMaxSegmentBytes = 1U << 30;

/// One storage cell of a block, (layer, rank): one segment (K) or two (K and V). Sizes in bytes.
struct Slot {
  std::uint32_t k_bytes = 0;
  std::uint32_t v_bytes = 0;   // 0: the cell has one segment
  std::int32_t numa_node = 0;  // a hint of the holder; never part of identity, never trusted

  friend bool operator==(const Slot&, const Slot&) = default;
};

/// What a block is made of. Each segment of the template is a lane; lanes are numbered slot 0 K,
/// slot 0 V, slot 1 K, ... An immutable value, interned by whoever owns a model and shared by
/// std::shared_ptr<const Layout>; free to read from any thread.
class Layout {
 public:
  /// Fails with kInvalidArgument when there are no or more than kMaxSlots slots, a slot has no K
  /// bytes, or a segment is larger than kMaxSegmentBytes.
  static Result<Layout> make(std::vector<Slot> slots);

  std::span<const Slot> slots() const noexcept { return slots_; }
  std::uint32_t lanes() const noexcept { return static_cast<std::uint32_t>(lane_bytes_.size()); }
  /// Bytes of each lane's segment, in lane order.
  std::span<const std::uint32_t> lane_bytes() const noexcept { return lane_bytes_; }
  /// Bytes of one block over all lanes.
  std::uint64_t block_bytes() const noexcept { return block_bytes_; }
  /// Where the segment of `lane` (below lanes()) starts in a block whose lanes abut in their order.
  /// In memory that is block-major and dense, it is block * block_bytes() + lane_offset(lane).
  std::uint64_t lane_offset(std::uint32_t lane) const noexcept { return lane_offsets_[lane]; }
  /// Hash of the sizes; the NUMA hints are not part of it. Equal on every machine.
  std::uint64_t id() const noexcept { return id_; }
  /// Equal sizes in equal order; NUMA hints may differ.
  bool same_shape(const Layout& other) const noexcept;

 private:
  Layout() = default;

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> lane_bytes_;
  std::vector<std::uint64_t> lane_offsets_;  // sums of the lanes before
  std::uint64_t block_bytes_ = 0;
  std::uint64_t id_ = 0;
};

}  // namespace corail
