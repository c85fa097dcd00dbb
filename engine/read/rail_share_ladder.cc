// How a share that gives up becomes quiescent: the ladder of contract 4.
#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "engine/read/rail_share.h"

namespace corail {

Task<void> RailShare::make_quiescent() {
  // Wait, fence, close.
  const TimePoint deadline = clock_.now() + fence_deadline_;
  if (!rail_.capabilities().fence_is_local) {
    // A fence would flush the other reads' slices as well. The window is small, so what is in it
    // has mostly landed by then.
    co_await wait_for_outcomes(clock_.now() + fence_deadline_ / 2);
    if (in_flight_.empty()) co_return;
  }
  auto fenced = co_await rail_.fence(*this, deadline);
  if (fenced) co_return;
  // Without the device nothing of it writes any more. Closing gives every slice its outcome, and is
  // waited for as long as a fence.
  rail_.give_up(fenced.error());
  co_await wait_for_outcomes(clock_.now() + fence_deadline_);
  if (in_flight_.empty()) co_return;
  ++errors_;
  if (read_.on_stuck) {
    co_await wait_for_device();
  } else {
    stuck_ = std::move(fenced).error().at(Stage::kWait);
  }
}

/// The one wait without a bound: a caller who has his memory back may free it, so he does not get
/// it back while a device may still write there (I1).
Task<void> RailShare::wait_for_device() {
  try {
    read_.on_stuck(stuck_memory());
  } catch (...) {
    // Whoever cannot be told has to be waited for all the same: slices are posted.
  }
  while (!in_flight_.empty()) {
    co_await changed_.wait();
  }
}

StuckMemory RailShare::stuck_memory() const {
  StuckMemory stuck;
  stuck.read = read_.context.read;
  stuck.rail = rail_.name();
  for (const Progress& slice : in_flight_) {
    const ReadPlan::Span& span = read_.plan->span_at(slice.tag);
    std::byte* const begin =
        read_.chunk_bases[span.chunk] + span.chunk_offset + (slice.tag - span.linear);
    stuck.ranges.emplace_back(begin, slice.length);
  }
  std::ranges::sort(stuck.ranges, std::ranges::less(),
                    [](std::span<std::byte> range) { return range.data(); });
  return stuck;
}

Task<void> RailShare::wait_for_outcomes(TimePoint until) {
  bool expired = false;
  const auto timer = clock_.make_timer(rail_.executor());
  timer->wait_until(until, [this, &expired](bool) {
    expired = true;
    changed_.notify();
  });
  while (!in_flight_.empty() && !expired) {
    co_await changed_.wait();
  }
}

}  // namespace corail
