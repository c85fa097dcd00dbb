// The writing half of a connection, and its sense of time: deadlines, keep-alive, farewell.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/exec/sleep.h"
#include "rpc/connection.h"

namespace corail {
namespace {

double seconds(Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// How long the watch sleeps when it waits for nothing but to be woken.
constexpr Duration kIdleWatch = std::chrono::hours(1);

}  // namespace

Task<void> Connection::write_loop() {
  const auto written = co_await queue_.run();
  if (!written.ok() && !ended_) {
    // The reader may still find out why: a peer that cuts us off says so first.
    write_failed_ = written.error();
    farewell_until_ = clock_.now() + options_.farewell;
    timer_->cancel();
  } else if (!written.ok() || !linger_) {
    end_stream();
  }
}

Task<void> Connection::watch_loop() {
  while (!read_ended_) {
    watching_for_ = next_wake();
    co_await sleep_until(*timer_, watching_for_);
    const TimePoint now = clock_.now();
    expire_calls(now);
    keep_alive(now);
  }
}

TimePoint Connection::next_wake() const {
  if (stream_ended_) return clock_.now() + kIdleWatch;
  if (ended_) return farewell_until_;
  TimePoint next = quiet_since_ + options_.keep_alive;
  if (write_failed_) next = std::min(next, farewell_until_);
  if (const auto deadline = calls_.next_deadline()) next = std::min(next, *deadline);
  return next;
}

void Connection::expire_calls(TimePoint now) {
  for (PendingCall* const call : calls_.due(now)) {
    give_up(*call,
            Error(Errc::kDeadline, fmt::format("the peer did not answer {} within {:.3g} s; it is "
                                               "overloaded, hung or cut off",
                                               limits_of(call->method).name,
                                               seconds(call->deadline - call->started))));
  }
}

void Connection::keep_alive(TimePoint now) {
  if (ended_ || write_failed_) {
    if (now >= farewell_until_) end_stream();
    return;
  }
  if (now - quiet_since_ < options_.keep_alive) return;
  // Counted in pings, not in time, so that a process that was stopped for a while does not take
  // its own absence for the peer's.
  if (pings_ + 1 >= options_.keep_alive_misses) {
    end(Error(
            Errc::kConnectionLost,
            fmt::format("nothing came from the peer for {:.3g} s, not even an answer to {} pings; "
                        "it is hung or cut off",
                        seconds(options_.keep_alive) * options_.keep_alive_misses, pings_)),
        Farewell::kNone);
    return;
  }
  ++pings_;
  quiet_since_ = now;
  send_control(FrameKind::kPing, Method::kNone, 0, FrameBuffer());
}

}  // namespace corail
