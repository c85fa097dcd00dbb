#include "engine/base/clock.h"

#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <optional>
#include <vector>

namespace corail {
namespace {

/// What a timer shares with a callback that is already on its way to the executor when the timer
/// goes: the callback finds itself dropped. Executor's thread only.
struct Armed {
  std::function<void(bool)> done;

  static void complete(const std::weak_ptr<Armed>& armed, bool expired) {
    const auto alive = armed.lock();
    if (!alive) return;
    const auto done = std::exchange(alive->done, nullptr);
    if (done) done(expired);
  }
};

class SteadyTimer final : public Timer {
 public:
  explicit SteadyTimer(const asio::any_io_executor& executor) : timer_(executor) {}

  void wait_until(TimePoint when, std::function<void(bool)> done) override {
    armed_ = std::make_shared<Armed>();
    armed_->done = std::move(done);
    timer_.expires_at(when);
    timer_.async_wait([armed = std::weak_ptr(armed_)](const std::error_code& error) {
      Armed::complete(armed, !error);
    });
  }
  void cancel() override { timer_.cancel(); }

 private:
  asio::steady_timer timer_;
  std::shared_ptr<Armed> armed_;
};

}  // namespace

TimePoint machine_now() noexcept { return std::chrono::steady_clock::now(); }

TimePoint SteadyClock::now() const noexcept { return machine_now(); }

std::unique_ptr<Timer> SteadyClock::make_timer(asio::any_io_executor executor) {
  return std::make_unique<SteadyTimer>(executor);
}

class ManualClock::ManualTimer final : public Timer {
 public:
  ManualTimer(ManualClock& clock, asio::any_io_executor executor)
      : clock_(clock), executor_(std::move(executor)) {}

  ~ManualTimer() override {
    const std::lock_guard lock(clock_.mutex_);
    if (key_) clock_.waiting_.erase(*key_);
  }

  void wait_until(TimePoint when, std::function<void(bool)> done) override {
    const std::lock_guard lock(clock_.mutex_);
    if (key_) clock_.waiting_.erase(*key_);
    key_.reset();
    armed_ = std::make_shared<Armed>();
    armed_->done = std::move(done);
    if (when <= clock_.now_) {
      complete(true);
      return;
    }
    key_.emplace(when, clock_.sequence_++);
    clock_.waiting_.emplace(*key_, this);
  }

  void cancel() override {
    const std::lock_guard lock(clock_.mutex_);
    if (!key_) return;
    clock_.waiting_.erase(*key_);
    key_.reset();
    complete(false);
  }

  /// With the clock's mutex held.
  void fire() {
    key_.reset();
    complete(true);
  }

 private:
  void complete(bool expired) {
    asio::post(executor_,
               [armed = std::weak_ptr(armed_), expired] { Armed::complete(armed, expired); });
  }

  ManualClock& clock_;
  asio::any_io_executor executor_;
  std::shared_ptr<Armed> armed_;
  std::optional<Key> key_;
};

TimePoint ManualClock::now() const noexcept {
  const std::lock_guard lock(mutex_);
  return now_;
}

std::unique_ptr<Timer> ManualClock::make_timer(asio::any_io_executor executor) {
  return std::make_unique<ManualTimer>(*this, std::move(executor));
}

void ManualClock::advance_to(TimePoint when) {
  const std::lock_guard lock(mutex_);
  if (when > now_) now_ = when;
  while (!waiting_.empty() && waiting_.begin()->first.first <= now_) {
    ManualTimer* timer = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    timer->fire();
  }
}

bool ManualClock::next_due(TimePoint& when) const {
  const std::lock_guard lock(mutex_);
  if (waiting_.empty()) return false;
  when = waiting_.begin()->first.first;
  return true;
}

}  // namespace corail
