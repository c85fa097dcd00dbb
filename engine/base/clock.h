#pragma once

#include <asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace corail {

using Duration = std::chrono::nanoseconds;
using TimePoint = std::chrono::time_point<std::chrono::steady_clock, Duration>;

/// The machine's monotonic time, also where a Clock is virtual: for accounting what our own code
/// costs. Nothing is scheduled by it. (The thread's CPU clock would be the better measure, but
/// costs more to read than what it is to measure.)
TimePoint machine_now() noexcept;

/// One wait at a time. Used, and destroyed, on the thread of the executor it was made for;
/// destroying a waiting timer drops its callback without calling it.
class Timer {
 public:
  virtual ~Timer() = default;

  /// Calls `done(true)` on the executor once `when` is reached, or `done(false)` after cancel().
  /// Never from within this call.
  virtual void wait_until(TimePoint when, std::function<void(bool expired)> done) = 0;
  virtual void cancel() = 0;
};

/// The only source of time and timers: everything that waits takes a Clock, so that tests can run
/// in virtual time. Owned by whoever builds the node; must outlive everything that was given a
/// reference. Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimePoint now() const noexcept = 0;
  virtual std::unique_ptr<Timer> make_timer(asio::any_io_executor executor) = 0;
};

/// The machine's monotonic clock.
class SteadyClock final : public Clock {
 public:
  TimePoint now() const noexcept override;
  std::unique_ptr<Timer> make_timer(asio::any_io_executor executor) override;
};

/// Virtual time: moves only when told. An Asio timer on a clock of our own would wait on a timerfd
/// whatever the clock says, hence an own queue. Callbacks are posted to the timers' executors, in
/// order of time, then of arming. Must outlive its timers.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(TimePoint start = TimePoint(std::chrono::seconds(1))) : now_(start) {}

  TimePoint now() const noexcept override;
  std::unique_ptr<Timer> make_timer(asio::any_io_executor executor) override;

  /// Moves to `when` and posts what fell due. Time never goes back.
  void advance_to(TimePoint when);
  void advance(Duration by) { advance_to(now() + by); }
  /// The time of the next waiting timer, or nothing when none waits (false).
  bool next_due(TimePoint& when) const;

 private:
  class ManualTimer;
  using Key = std::pair<TimePoint, std::uint64_t>;

  mutable std::mutex mutex_;
  TimePoint now_;
  std::uint64_t sequence_ = 0;
  std::map<Key, ManualTimer*> waiting_;
};

}  // namespace corail
