#pragma once

#include <algorithm>
#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/rail/verbs/order_numbers.h"
#include "engine/verbs/queue_pair.h"
#include "engine/verbs/send_queue_account.h"

namespace corail {

class ServedPush;

/// A part of an order, at most: between two of them it is asked whether the order still stands.
inline constexpr std::uint64_t kPushPartBytes = std::uint64_t{1} << 20;
/// Parts of one order that are posted at a time, at most (I8).
inline constexpr std::size_t kPartsUnderWay = 4;

/// A queue pair of a door, and what the door writes with it. Shared by the door and the orders that
/// are under way; on the port's thread.
struct ServedPair {
  ServedPair(std::unique_ptr<QueuePair> own, const asio::any_io_executor& executor)
      : pair(std::move(own)), number(pair->number()), pushes_ended(executor) {}

  std::unique_ptr<QueuePair> pair;  // none once it is destroyed
  const std::uint32_t number;
  SendQueueAccount account;
  OrderNumbers orders;
  /// Why nothing more is posted on it.
  std::optional<Error> lost;
  std::vector<ServedPush*> pushes;  // under way
  std::deque<ServedPush*> turns;    // those of them that wait for others to end
  std::size_t writing = 0;          // those that do not
  Event pushes_ended;               // there is none any more
};

/// One order under way. In the frame of the coroutine that serves it, which outlives every part
/// that is posted (I6).
class ServedPush {
 public:
  ServedPush(std::shared_ptr<ServedPair> pair, const asio::any_io_executor& executor)
      : pair_(std::move(pair)), changed_(executor) {
    pair_->pushes.push_back(this);
  }
  ~ServedPush() {
    std::erase(pair_->pushes, this);
    std::erase(pair_->turns, this);
    if (writes_) --pair_->writing;
    // Also where this only waited: it may have been told that there is room, and have left instead.
    if (!pair_->turns.empty()) pair_->turns.front()->notify();
    if (pair_->pushes.empty()) pair_->pushes_ended.notify();
  }
  ServedPush(const ServedPush&) = delete;
  ServedPush& operator=(const ServedPush&) = delete;

  ServedPair& pair() noexcept { return *pair_; }
  std::size_t under_way() const noexcept { return under_way_; }
  /// A part of it was not written, or nobody knows.
  bool failed() const noexcept { return failed_; }
  void fail() noexcept { failed_ = true; }
  void posted() noexcept { ++under_way_; }
  void ended() {
    --under_way_;
    changed_.notify();
  }
  void notify() { changed_.notify(); }
  /// Something may have changed. One waiter.
  Task<void> wait() { return changed_.wait(); }

  /// So many orders write at a time that each may have its parts in the send queue.
  bool take_turn(std::size_t at_a_time) {
    if (writes_) return true;
    const bool first = pair_->turns.empty() || pair_->turns.front() == this;
    if (!first || pair_->writing >= at_a_time) {
      const bool waits =
          std::find(pair_->turns.begin(), pair_->turns.end(), this) != pair_->turns.end();
      if (!waits) pair_->turns.push_back(this);
      return false;
    }
    std::erase(pair_->turns, this);
    writes_ = true;
    ++pair_->writing;
    if (!pair_->turns.empty()) pair_->turns.front()->notify();
    return true;
  }

 private:
  const std::shared_ptr<ServedPair> pair_;
  Event changed_;
  std::size_t under_way_ = 0;
  bool writes_ = false;
  bool failed_ = false;
};

}  // namespace corail
