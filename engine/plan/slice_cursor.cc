#include "engine/plan/slice_cursor.h"

#include <algorithm>

#include "engine/base/check.h"

namespace corail {

SliceCursor::SliceCursor(const ReadPlan& plan, std::size_t owner, std::uint64_t max_slice,
                         std::uint64_t floor, std::uint32_t rails)
    : plan_(plan),
      begin_(plan.owner_begin(owner)),
      end_(plan.owner_end(owner)),
      max_slice_(max_slice),
      floor_(std::min(floor, max_slice)),
      rails_(rails),
      even_share_(end_ - begin_ <= rails_ * floor_ * kEvenShareFloors
                      ? (end_ - begin_ + rails_ - 1) / rails_
                      : 0),
      tail_slice_(std::max(kTailSliceBytes, (end_ - begin_) / rails_ / kTailPartsOfRead)),
      next_(begin_) {
  CORAIL_CHECK(floor_ > 0 && rails > 0, "a slice cursor needs slices of a byte and a rail");
}

std::optional<SliceCursor::Cut> SliceCursor::take(std::uint64_t rail_limit) noexcept {
  const std::uint64_t most = std::min(max_slice_, rail_limit);
  if (most == 0) return std::nullopt;
  const std::span<const ReadPlan::Span> spans = plan_.spans();
  // Relaxed throughout: what a slice covers follows from the position alone, and the plan was
  // published before the cursor was.
  std::uint64_t from = next_.load(std::memory_order_relaxed);
  for (;;) {
    if (from >= end_) return std::nullopt;
    const ReadPlan::Span* span = &spans[span_guess_.load(std::memory_order_relaxed)];
    if (from - span->linear >= span->length) span = &plan_.span_at(from);
    const std::uint64_t want = std::min(wanted(end_ - from), most);
    const std::uint64_t end = plan_.cut_in(*span, from, want, most);
    if (!next_.compare_exchange_weak(from, end, std::memory_order_relaxed)) continue;
    auto ahead = static_cast<std::size_t>(span - spans.data());
    if (end == span->linear + span->length && ahead + 1 < spans.size()) ++ahead;
    span_guess_.store(ahead, std::memory_order_relaxed);
    return Cut{from, end - from, span};
  }
}

std::uint64_t SliceCursor::wanted(std::uint64_t left) const noexcept {
  std::uint64_t share = std::max(left / rails_, even_share_);
  if (rails_ > 1 && share > tail_slice_) share = std::max(share / kTailParts, tail_slice_);
  return std::clamp(share, floor_, max_slice_);
}

std::uint64_t SliceCursor::remaining() const noexcept {
  return end_ - next_.load(std::memory_order_relaxed);
}

}  // namespace corail
