#pragma once

#include <algorithm>
#include <memory>

#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/rail/verbs/verbs_transport.h"

namespace corail {

/// Waits for something to end on a transport, or for a deadline. In the waiting coroutine's frame.
class VerbsTransport::Waiter {
 public:
  Waiter(VerbsTransport& transport, TimePoint deadline)
      : transport_(transport),
        changed_(transport.executor_),
        timer_(transport.clock_.make_timer(transport.executor_)) {
    transport_.waiters_.push_back(this);
    timer_->wait_until(deadline, [this](bool expired) {
      expired_ = expired_ || expired;
      changed_.notify();
    });
  }
  ~Waiter() { std::erase(transport_.waiters_, this); }
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  bool expired() const noexcept { return expired_; }
  void notify() { changed_.notify(); }
  Task<void> wait() { return changed_.wait(); }

 private:
  VerbsTransport& transport_;
  Event changed_;
  const std::unique_ptr<Timer> timer_;
  bool expired_ = false;
};

}  // namespace corail
