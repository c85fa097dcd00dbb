#pragma once

#include <asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <utility>

#include "engine/base/clock.h"

namespace corail::sim {

/// A clock that runs at a fraction of another one's rate from when it is made. A planted bug: what
/// it times lasts longer than it says. The other clock outlives it.
class SlowClock final : public Clock {
 public:
  SlowClock(Clock& real, Duration::rep fraction)
      : real_(real), begin_(real.now()), fraction_(fraction) {}

  TimePoint now() const noexcept override { return begin_ + (real_.now() - begin_) / fraction_; }

  std::unique_ptr<Timer> make_timer(asio::any_io_executor executor) override {
    return std::make_unique<SlowTimer>(*this, real_.make_timer(std::move(executor)));
  }

 private:
  class SlowTimer final : public Timer {
   public:
    SlowTimer(const SlowClock& clock, std::unique_ptr<Timer> real)
        : clock_(clock), real_(std::move(real)) {}
    void wait_until(TimePoint when, std::function<void(bool expired)> done) override {
      real_->wait_until(clock_.begin_ + (when - clock_.begin_) * clock_.fraction_, std::move(done));
    }
    void cancel() override { real_->cancel(); }

   private:
    const SlowClock& clock_;
    const std::unique_ptr<Timer> real_;
  };

  Clock& real_;
  const TimePoint begin_;
  const Duration::rep fraction_;
};

}  // namespace corail::sim
