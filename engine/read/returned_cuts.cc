#include "engine/read/returned_cuts.h"

namespace corail {

void ReturnedCuts::give_back(std::span<const LostCut> cuts) {
  const std::lock_guard lock(mutex_);
  for (const LostCut& cut : cuts) {
    cuts_.push_back(cut);
    bytes_.fetch_add(cut.length, std::memory_order_relaxed);
  }
}

std::optional<SliceCursor::Cut> ReturnedCuts::take(std::uint64_t most) {
  // Asked for every slice of a read that loses none.
  if (most == 0 || bytes() == 0) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (cuts_.empty()) return std::nullopt;
  LostCut& last = cuts_.back();
  SliceCursor::Cut cut;
  cut.linear = last.linear;
  cut.length = last.length;
  cut.span = &plan_.span_at(last.linear);
  if (cut.length > most) {
    // Another rail's limit may be lower than that of the one that had it.
    cut.length = plan_.cut_in(*cut.span, cut.linear, most, most) - cut.linear;
  }
  last.linear += cut.length;
  last.length -= cut.length;
  bytes_.fetch_sub(cut.length, std::memory_order_relaxed);
  if (last.length == 0) cuts_.pop_back();
  return cut;
}

}  // namespace corail
