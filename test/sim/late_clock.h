#pragma once

#include <asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <utility>

#include "engine/base/clock.h"
#include "engine/base/random.h"

namespace corail::sim {

/// A clock that says the time as it is, while its timers call back late, as on a busy executor:
/// whoever goes by the timer where the time is what counts is found out. The other clock and the
/// randomness outlive it.
class LateClock final : public Clock {
 public:
  LateClock(Clock& real, Random& random, Duration most)
      : real_(real), random_(random), most_(most) {}

  TimePoint now() const noexcept override { return real_.now(); }

  std::unique_ptr<Timer> make_timer(asio::any_io_executor executor) override {
    const Duration late(
        static_cast<Duration::rep>(random_.below(static_cast<std::uint64_t>(most_.count()) + 1)));
    return std::make_unique<LateTimer>(real_.make_timer(std::move(executor)), late);
  }

 private:
  class LateTimer final : public Timer {
   public:
    LateTimer(std::unique_ptr<Timer> real, Duration late) : real_(std::move(real)), late_(late) {}
    void wait_until(TimePoint when, std::function<void(bool expired)> done) override {
      real_->wait_until(when + late_, std::move(done));
    }
    void cancel() override { real_->cancel(); }

   private:
    const std::unique_ptr<Timer> real_;
    const Duration late_;
  };

  Clock& real_;
  Random& random_;
  const Duration most_;
};

}  // namespace corail::sim
