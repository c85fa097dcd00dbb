#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "engine/base/units.h"
#include "engine/plan/read_plan.h"

namespace corail {

/// Below this, the last slices of a read shrink no further.
inline constexpr std::uint64_t kSliceFloorBytes = 256 * kKiB;

/// A read of no more than so many floors for each rail is cut into equal slices, one a rail: a
/// second one would cost a rail another round trip to the holder, which is more than the wait for a
/// slow rail with so few bytes.
inline constexpr std::uint64_t kEvenShareFloors = 3;

/// Where several rails share what is left, a slice is no more than this part of a rail's even share
/// of it: a rail that turns out to be slow has hold of so little, however large slices may be.
inline constexpr std::uint64_t kTailParts = 4;

/// Slices up to this size, or up to this part of a rail's even share of the whole read, may be a
/// whole even share of what is left: what a slow rail can hold up with one of them is small beside
/// the read, and smaller ones would only be more of them: so a tail costs at most 14 slices a rail,
/// and the fewer the larger the read.
inline constexpr std::uint64_t kTailSliceBytes = kMiB;
inline constexpr std::uint64_t kTailPartsOfRead = 32;

/// Hands the bytes of one of the plan's owners out in slices, each once: one atomic, any thread, no
/// waiting.
/// Slices are cut lazily, so a rail takes more by being faster. The last ones shrink, so that no
/// rail waits long for a slow one at the end. Owned by the read; the plan must outlive it.
class SliceCursor {
 public:
  struct Cut {
    std::uint64_t linear = 0;
    std::uint64_t length = 0;
    const ReadPlan::Span* span = nullptr;  // the one that holds it, owned by the plan
  };

  /// `owner` is below plan.owners(); `max_slice` and `floor` in bytes, at least 1; `rails` that
  /// reach the owner, at least 1.
  SliceCursor(const ReadPlan& plan, std::size_t owner, std::uint64_t max_slice, std::uint64_t floor,
              std::uint32_t rails);
  SliceCursor(const ReadPlan& plan, std::uint64_t max_slice, std::uint64_t floor,
              std::uint32_t rails)
      : SliceCursor(plan, 0, max_slice, floor, rails) {}
  SliceCursor(const ReadPlan& plan, std::uint64_t max_slice, std::uint32_t rails)
      : SliceCursor(plan, 0, max_slice, kSliceFloorBytes, rails) {}

  /// The next slice, of at most min(max_slice, rail_limit) bytes, or nothing when all were taken.
  /// It ends on the border of a piece unless a piece is larger than that. Towards the end it wants
  /// clamp(remaining / rails, floor, max_slice) only, and less yet while that is much (kTailParts),
  /// or an even share where the read is small.
  std::optional<Cut> take(std::uint64_t rail_limit) noexcept;

  /// Bytes that nobody has taken yet.
  std::uint64_t remaining() const noexcept;

 private:
  std::uint64_t wanted(std::uint64_t left) const noexcept;

  const ReadPlan& plan_;
  const std::uint64_t begin_;
  const std::uint64_t end_;
  const std::uint64_t max_slice_;
  const std::uint64_t floor_;
  const std::uint64_t rails_;
  const std::uint64_t even_share_;          // 0: the read is not small
  const std::uint64_t tail_slice_;          // up to this a slice may be a whole even share
  std::atomic<std::uint64_t> next_;         // first byte that is still there to take
  std::atomic<std::size_t> span_guess_{0};  // where it may lie; a hint only
};

}  // namespace corail
