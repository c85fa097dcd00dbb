// How a share that gives up becomes quiescent: the ladder of contract 4.
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
  if (!in_flight_.empty()) {
    ++errors_;
    stuck_ = std::move(fenced).error().at(Stage::kWait);
  }
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
