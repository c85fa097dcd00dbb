#include "engine/rail/health.h"

#include <algorithm>

#include "engine/base/check.h"

namespace corail {
namespace {

/// `first` doubled `times` times, at most `cap`.
Duration doubled(Duration first, std::uint32_t times, Duration cap) noexcept {
  Duration time = first;
  for (std::uint32_t i = 0; i < times && time < cap; ++i) time *= 2;
  return std::min(time, cap);
}

}  // namespace

std::string_view to_string(BreakerState state) noexcept {
  switch (state) {
    case BreakerState::kClosed:
      return "closed";
    case BreakerState::kOpen:
      return "open";
    case BreakerState::kHalfOpen:
      return "half-open";
  }
  return "unknown";
}

bool PortHealth::event(bool active) {
  if (active == active_) return false;
  active_ = active;
  if (!active) ++faults_;
  const std::vector<PortListener*> told = listeners_;
  for (PortListener* const listener : told) {
    const bool listens =
        std::find(listeners_.begin(), listeners_.end(), listener) != listeners_.end();
    if (listens) listener->port_changed();
  }
  return true;
}

void PortHealth::remove_listener(PortListener& listener) noexcept {
  std::erase(listeners_, &listener);
}

TimePoint RailHealth::may_begin_at() const noexcept {
  if (generation_ == 0) return TimePoint();
  const std::uint32_t failures = failed_tries_ > 0 ? failed_tries_ - 1 : 0;
  const TimePoint rested = begun_ + doubled(options_.rebuild_gap, failures, options_.max_back_off);
  return state_ == BreakerState::kOpen ? std::max(rested, retry_at_) : rested;
}

std::uint64_t RailHealth::begin(TimePoint now) noexcept {
  CORAIL_CHECK(now >= may_begin_at(), "a generation begins when the back-off is over");
  if (state_ == BreakerState::kOpen) state_ = BreakerState::kHalfOpen;
  begun_ = now;
  judged_ = false;
  fences_ = 0;
  ++failed_tries_;
  return ++generation_;
}

void RailHealth::connected(std::uint64_t generation) noexcept {
  if (generation == generation_) failed_tries_ = 0;
}

void RailHealth::succeeded(std::uint64_t generation, TimePoint now) noexcept {
  if (generation != generation_ || judged_ || state_ != BreakerState::kHalfOpen) return;
  state_ = BreakerState::kClosed;
  probation_end_ = now + options_.window;
}

bool RailHealth::fault(std::uint64_t generation, TimePoint now) noexcept {
  if (generation != generation_ || judged_) return false;
  judged_ = true;
  if (port_ != nullptr && !port_->active()) return false;
  ++faults_;
  if (state_ == BreakerState::kClosed) {
    const bool probation = openings_ > 0 && now < probation_end_;
    if (!probation) openings_ = 0;
    while (!recent_.empty() && recent_.front() <= now - options_.window) recent_.pop_front();
    recent_.push_back(now);
    if (!probation && recent_.size() < options_.faults_to_open) return true;
  }
  open(now);
  return true;
}

void RailHealth::open(TimePoint now) noexcept {
  retry_at_ = now + doubled(options_.back_off, openings_++, options_.max_back_off);
  state_ = BreakerState::kOpen;
  recent_.clear();
}

bool RailHealth::flushed(std::uint64_t generation, TimePoint now) noexcept {
  if (fences_ > 0) return false;
  return fault(generation, now);
}

void RailHealth::fence_began(std::uint64_t generation) noexcept {
  if (generation == generation_) ++fences_;
}

void RailHealth::fence_ended(std::uint64_t generation) noexcept {
  if (generation == generation_ && fences_ > 0) --fences_;
}

void RailHealth::excuse(std::uint64_t generation) noexcept {
  if (generation == generation_) judged_ = true;
}

void RailHealth::port_returned(TimePoint now) noexcept {
  failed_tries_ = 0;
  if (state_ == BreakerState::kOpen) retry_at_ = std::min(retry_at_, now);
}

}  // namespace corail
