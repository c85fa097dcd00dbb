#pragma once

#include <cstddef>

namespace corail {

/// A source of completions that an Executor asks again and again: a completion queue, or the model
/// of one. All members are called on the executor's thread.
///
/// Owned by whoever called Executor::add_poller(), which must call remove_poller() before
/// destroying it. Members must not throw and must not block.
class Poller {
 public:
  virtual ~Poller() = default;

  /// Completes what is ready, a bounded batch, and returns how many that were. Collect the batch
  /// first and resume afterwards: what is resumed may post again or call remove_poller().
  virtual std::size_t poll() = 0;

  /// Asks for a wake-up: from now on the next completion makes a handler ready on the executor's
  /// io_context, which calls Executor::wake(). Returns false when completions may have slipped in
  /// already; then the executor polls again instead of sleeping. Calling it while armed is
  /// harmless.
  virtual bool arm() = 0;

  /// The executor is awake and polls again. The wake-up may stay pending: an unneeded one is
  /// harmless. So must be a call without an arm() before it.
  virtual void disarm() = 0;
};

}  // namespace corail
