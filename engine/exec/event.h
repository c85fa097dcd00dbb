#pragma once

#include <asio/any_io_executor.hpp>

#include "engine/exec/suspension.h"
#include "engine/exec/task.h"

namespace corail {

/// Wakes one waiter; resets itself. A notification without a waiter is remembered, once: any number
/// of them before a wait() counts as one, so check the condition itself after waking.
///
/// All members on the executor's thread. Destroying it abandons a coroutine that waits
/// in it (see Suspension).
class Event {
 public:
  explicit Event(const asio::any_io_executor& executor) : waiter_(executor) {}

  /// Never resumes the waiter from within this call.
  void notify();
  /// Whether the next wait() returns at once.
  bool pending() const noexcept { return pending_; }

  /// One waiter at a time. Not cancellable: whoever wants to stop it notifies it.
  Task<void> wait();

 private:
  Suspension waiter_;
  bool pending_ = false;
};

}  // namespace corail
