#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>

#include "engine/base/result.h"
#include "engine/exec/task.h"

namespace corail {

/// A counting semaphore: a budget of bytes or requests. Strictly first come, first served, so a
/// large request is not overtaken for ever by small ones.
///
/// All members on the executor's thread. Destroying it abandons the coroutines that wait in it
/// (see Suspension); close() it first to let them end.
class Credits {
 public:
  Credits(asio::any_io_executor executor, std::uint64_t available, std::size_t max_waiters);
  ~Credits();
  Credits(const Credits&) = delete;
  Credits& operator=(const Credits&) = delete;

  /// Takes `n`, after waiting for them if need be. Fails with kBusy when `max_waiters` wait
  /// already, and with the error given to close(). Not cancellable but by close(). More than will
  /// ever be released waits until then: check against the whole budget first.
  Task<Result<void>> acquire(std::uint64_t n);
  /// Takes `n` if they are there and nobody waits for some.
  bool try_acquire(std::uint64_t n);
  /// Gives `n` back, or grants new ones. Waiters that can go now are resumed from the queue.
  void release(std::uint64_t n);
  /// Fails whoever waits and every later acquire(). release() stays allowed. Only the first call
  /// counts.
  void close(Error error);

  std::uint64_t available() const noexcept { return available_; }
  std::size_t waiting() const noexcept { return waiters_.size(); }

 private:
  struct Waiter;

  const asio::any_io_executor executor_;
  std::uint64_t available_;
  const std::size_t max_waiters_;
  std::deque<std::shared_ptr<Waiter>> waiters_;
  std::optional<Error> closed_;
};

}  // namespace corail
