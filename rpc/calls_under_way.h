#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>

#include "engine/exec/event.h"
#include "engine/exec/task.h"

namespace corail {

/// Counts calls that are under way, so that a close can wait for them. Owned by what is closed;
/// home executor only.
class CallsUnderWay {
 public:
  explicit CallsUnderWay(const asio::any_io_executor& home) : ended_(home) {}

  /// One call, for as long as this lives in its frame.
  class Call {
   public:
    explicit Call(CallsUnderWay& calls) : calls_(calls) { ++calls_.count_; }
    ~Call() {
      --calls_.count_;
      calls_.ended_.notify();
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    CallsUnderWay& calls_;
  };

  /// Returns when there is none. One waiter.
  Task<void> wait() {
    while (count_ > 0) {
      co_await ended_.wait();
    }
  }

 private:
  std::uint32_t count_ = 0;
  Event ended_;
};

}  // namespace corail
