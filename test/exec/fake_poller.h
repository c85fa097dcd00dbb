#pragma once

#include <algorithm>
#include <asio/post.hpp>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>

#include "engine/exec/executor.h"
#include "engine/exec/poller.h"

namespace corail::test {

/// A device with a completion queue: completions arrive from any thread, and wake the executor
/// only when it asked for that and they were not missed.
class FakePoller final : public Poller {
 public:
  explicit FakePoller(Executor& executor) : executor_(executor) {}

  std::size_t poll() override {
    ++polls_;
    if (while_polling) while_polling();
    const std::lock_guard lock(mutex_);
    if (armed_ && ++polls_while_armed_ > 1) forgotten_ = true;
    const std::uint64_t batch = std::min<std::uint64_t>(ready_, kBatch);
    ready_ -= batch;
    completed_ += batch;
    return batch;
  }

  bool arm() override {
    if (while_arming) while_arming();
    if (refusals > 0) {
      --refusals;
      return false;
    }
    const std::lock_guard lock(mutex_);
    armed_ = true;
    polls_while_armed_ = 0;
    return !notices_slips || ready_ == 0;
  }

  void disarm() override {
    const std::lock_guard lock(mutex_);
    armed_ = false;
  }

  /// A completion arrives. Any thread.
  void push(std::uint64_t n) {
    const std::lock_guard lock(mutex_);
    ready_ += n;
    if (!armed_) return;
    armed_ = false;  // one wake-up for each arming
    asio::post(executor_.context(), [this] { executor_.wake(); });
  }

  /// A completion arrives and the device misses the request for a wake-up.
  void slip_in(std::uint64_t n) {
    const std::lock_guard lock(mutex_);
    ready_ += n;
  }

  bool asleep() {
    const std::lock_guard lock(mutex_);
    return armed_ && ready_ == 0;
  }
  /// Whether a round went by without a disarm(): one poll after arming is all there should be.
  bool was_forgotten() {
    const std::lock_guard lock(mutex_);
    return forgotten_;
  }
  std::uint64_t completed() const { return completed_; }
  std::uint64_t polls() const { return polls_; }

  std::function<void()> while_polling;
  std::function<void()> while_arming;
  bool notices_slips = true;
  int refusals = 0;  // so often arm() says that something slipped in although nothing shows yet

 private:
  static constexpr std::uint64_t kBatch = 16;

  Executor& executor_;
  std::mutex mutex_;
  std::uint64_t ready_ = 0;
  bool armed_ = false;
  int polls_while_armed_ = 0;
  bool forgotten_ = false;
  std::atomic<std::uint64_t> completed_{0};
  std::atomic<std::uint64_t> polls_{0};
};

}  // namespace corail::test
