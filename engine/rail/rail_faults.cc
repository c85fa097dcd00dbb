// What the rail makes of outcomes, losses and silence.

#include <fmt/core.h>

#include <utility>

#include "engine/base/log.h"
#include "engine/rail/rail.h"
#include "engine/rail/rail_attachment.h"

namespace corail {

void Rail::judge(const Result<void>& outcome) {
  const std::uint64_t generation = health_.generation();
  if (outcome.ok()) {
    const BreakerState before = health_.breaker();
    health_.succeeded(generation, clock_.now());
    if (health_.breaker() != before && !lost_) tell(RailState::kReady, "");
    return;
  }
  const Error& error = outcome.error();
  if (error.error_class() == ErrorClass::kTransport && error.code() != Errc::kFlushed) {
    ++counters_.errors;
    path_failed(error);
  } else if (error.code() == Errc::kFlushed) {
    if (!transport_closing_ && health_.flushed(generation, clock_.now())) {
      ++counters_.errors;
      lose(Error(Errc::kRailFailed, Stage::kWait,
                 "slices were flushed although nobody here gave them up; check the link and the "
                 "device"));
    }
  } else if (!usable()) {
    // The caller's fault or the holder's answer; the channel went with it, as queue pairs do.
    health_.excuse(generation);
  }
  if (!usable()) lose(error);
}

void Rail::path_failed(const Error& why) {
  if (transport_closing_) return;
  health_.fault(health_.generation(), clock_.now());
  lose(why);
}

void Rail::transport_lost(const Error& why) {
  if (transport_closing_ || lost_) return;
  if (why.error_class() == ErrorClass::kTransport) {
    path_failed(why);
    return;
  }
  // The holder does not speak as agreed: that is no fault of the path, and is rebuilt no faster.
  health_.excuse(health_.generation());
  lose(why);
}

void Rail::lose(const Error& why) {
  if (closing_ || std::exchange(lost_, true)) return;
  tell(RailState::kDraining, why.detail());
  const BreakerState breaker = health_.breaker();
  log_limited("rail out of use", LogLevel::kWarning, "rail {} is out of use, its breaker {}: {}",
              name_, to_string(breaker), why.to_string());
  if (!usable()) {
    // Those that wait on it for slices would wait for a rail that is gone.
    for (const auto& attachment : attachments_) {
      const bool idle = attachment->slices_in_flight_ == 0 && attachment->source_ != nullptr;
      if (idle) attachment->source_->on_rail_failed(why);
    }
  }
  life_changed_.notify();
}

/// What is posted may never end by itself, and what would be posted neither: whoever is attached
/// fences what it has, and closes the transport should that not end it.
void Rail::condemn(const Error& why) {
  lose(why);
  if (closing_ || std::exchange(condemned_, true)) return;
  for (const auto& attachment : attachments_) {
    if (attachment->source_ != nullptr) attachment->source_->on_rail_failed(why);
  }
}

void Rail::tell(RailState state, std::string why) {
  RailStatus status;
  status.state = state;
  status.breaker = health_.breaker();
  status.why = std::move(why);
  status_.write(std::move(status));
}

void Rail::arm_watchdog(TimePoint when) {
  watching_ = true;
  watchdog_->wait_until(when, [self = self_](bool expired) {
    if (expired && *self != nullptr) (*self)->watch();
  });
}

void Rail::watch() {
  watching_ = false;
  if (posted_.empty() || transport_closing_) return;
  const TimePoint due = posted_.heard() + options_.watchdog;
  if (clock_.now() < due) {
    arm_watchdog(due);
    return;
  }
  const Error why(
      Errc::kRailFailed, Stage::kWait,
      fmt::format(
          "nothing was heard of the oldest slice for {} ms; check the holder's load and the path",
          std::chrono::duration_cast<std::chrono::milliseconds>(options_.watchdog).count()));
  path_failed(why);
  condemn(why);
}

void Rail::give_up(const Error& why) {
  path_failed(why);
  condemn(why);
  start_closing_transport();
}

}  // namespace corail
