#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"

namespace corail {

/// When the breaker of a rail opens and for how long.
struct HealthOptions {
  HealthOptions() {}

  /// So many faults within the window open the breaker, however many slices went well between
  /// them: a rail that fails now and then would never trip a count that a success resets.
  std::uint32_t faults_to_open = 3;
  Duration window = std::chrono::seconds(30);
  /// An open breaker waits so long for its probe, and twice as long each time that it fails.
  Duration back_off = std::chrono::seconds(1);
  Duration max_back_off = std::chrono::seconds(30);
  /// The least time between the beginnings of two generations; doubles, up to max_back_off, while
  /// connects fail for whatever reason. What is nobody's fault is rebuilt no faster either.
  Duration rebuild_gap = std::chrono::milliseconds(100);
};

/// closed: in use. open: not tried before the back-off is over. half-open: one probe decides.
enum class BreakerState : std::uint8_t { kClosed, kOpen, kHalfOpen };

std::string_view to_string(BreakerState state) noexcept;

/// Whoever has to know when a port goes down or comes back.
class PortListener {
 public:
  virtual ~PortListener() = default;
  /// PortHealth::active() has changed. On the port's executor.
  virtual void port_changed() = 0;
};

/// What is known of a local port, and shared by its rails: a port that goes down is one fault of
/// the port and none of theirs. On the port's executor only; outlives its listeners.
class PortHealth {
 public:
  PortHealth() = default;
  PortHealth(const PortHealth&) = delete;
  PortHealth& operator=(const PortHealth&) = delete;

  /// A port event has arrived; those who listen are told. False: nothing new, devices repeat
  /// themselves.
  bool event(bool active);

  void add_listener(PortListener& listener) { listeners_.push_back(&listener); }
  /// Also from within port_changed(), and for one that never was added.
  void remove_listener(PortListener& listener) noexcept;

  bool active() const noexcept { return active_; }
  /// How often it went down.
  std::uint64_t faults() const noexcept { return faults_; }

 private:
  bool active_ = true;
  std::uint64_t faults_ = 0;
  std::vector<PortListener*> listeners_;
};

/// The breaker of one rail. Pure: no clock, no timer, no thread; time only moves forward.
///
/// A rail lives in generations, one for each set of channels that it opens. However many slices a
/// broken channel flushes, its generation is at most one fault: the first verdict on a generation
/// counts, and what is said of an earlier one does not. Refusals and errors of the caller never get
/// here.
class RailHealth {
 public:
  /// `port` may be null, and outlives this.
  explicit RailHealth(HealthOptions options, const PortHealth* port = nullptr) noexcept
      : options_(options), port_(port) {}

  /// When the next generation may begin at the earliest, if the port is active.
  TimePoint may_begin_at() const noexcept;

  /// A connect begins; not before may_begin_at(). Returns the number of its generation. On an open
  /// breaker it is the probe.
  std::uint64_t begin(TimePoint now) noexcept;
  /// It has succeeded.
  void connected(std::uint64_t generation) noexcept;

  /// A slice ended well. On a half-open breaker: the probe has succeeded.
  void succeeded(std::uint64_t generation, TimePoint now) noexcept;

  /// The path failed. True: it is counted.
  bool fault(std::uint64_t generation, TimePoint now) noexcept;

  /// A slice was flushed: a fault, unless we are fencing. True: it is counted.
  bool flushed(std::uint64_t generation, TimePoint now) noexcept;
  void fence_began(std::uint64_t generation) noexcept;
  void fence_ended(std::uint64_t generation) noexcept;

  /// The generation has ended through no fault of the path; what it flushes is no fault either.
  void excuse(std::uint64_t generation) noexcept;

  /// The port is active again: whatever failed before may be over, so the wait is, too.
  void port_returned(TimePoint now) noexcept;

  BreakerState breaker() const noexcept { return state_; }
  std::uint64_t generation() const noexcept { return generation_; }
  std::uint64_t faults() const noexcept { return faults_; }
  /// Whether the last connect failed; false before the first one.
  bool failed_to_connect() const noexcept { return failed_tries_ > 0; }

 private:
  void open(TimePoint now) noexcept;

  const HealthOptions options_;
  const PortHealth* const port_;
  BreakerState state_ = BreakerState::kClosed;
  std::uint64_t generation_ = 0;
  bool judged_ = false;             // the generation has its verdict
  std::uint32_t fences_ = 0;        // of ours, that the generation has not answered
  TimePoint begun_{};               // when the generation began
  std::uint32_t failed_tries_ = 0;  // generations since the last one that connected
  std::deque<TimePoint> recent_;    // faults in the window; at most faults_to_open
  std::uint64_t faults_ = 0;
  std::uint32_t openings_ = 0;  // since the last calm window
  TimePoint probation_end_{};   // until then one fault opens the breaker again
  TimePoint retry_at_{};
};

}  // namespace corail
