#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/bind_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/this_coro.hpp>
#include <cstddef>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/result.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"

namespace corail {

/// One child of when_all: a task that has not started, and the executor it is to run on. Move-only,
/// and not assignable because assigning over a live awaitable leaks its frame.
template <typename T>
class Branch {
 public:
  Branch(asio::any_io_executor where, Task<Result<T>> task)
      : where_(std::move(where)), task_(std::move(task)) {}
  Branch(Branch&&) noexcept = default;
  Branch& operator=(Branch&&) = delete;

  const asio::any_io_executor& where() const noexcept { return where_; }
  Task<Result<T>> take() && { return std::move(task_); }

 private:
  asio::any_io_executor where_;
  Task<Result<T>> task_;
};

/// What an exception that escaped a task becomes: kOutOfMemory for std::bad_alloc, kCancelled for
/// Asio's operation_aborted, else kUnset ("no result") with the exception's text.
Error error_of(const std::exception_ptr& exception);

/// The child as it is spawned: exceptions end here, on the child's own thread.
template <typename T>
Task<Result<T>> without_exceptions(Task<Result<T>> task) {
  Result<T> result;
  try {
    result = co_await std::move(task);
  } catch (...) {
    result = error_of(std::current_exception());
  }
  co_return std::move(result);
}

/// Counts the children of one when_all. Lives in the joiner's frame, home thread only.
class JoinCounter {
 public:
  JoinCounter(const asio::any_io_executor& home, std::size_t children,
              std::function<void(const Error&)> on_first_failure)
      : pending_(children), done_(home), on_first_failure_(std::move(on_first_failure)) {}

  void failed(const Error& error) {
    if (!std::exchange(failed_, true) && on_first_failure_) on_first_failure_(error);
  }
  /// The last one wakes the joiner: nothing of the frame may be touched afterwards.
  void arrived() {
    if (--pending_ == 0) done_.notify();
  }
  std::size_t pending() const noexcept { return pending_; }
  Task<void> wait() { return done_.wait(); }

 private:
  std::size_t pending_;
  bool failed_ = false;
  Event done_;
  std::function<void(const Error&)> on_first_failure_;
};

/// Runs all branches, waits for all, and returns their results in input order.
///
/// Called on home; each branch runs on its own executor. Children never stop each other: on the
/// first failure `on_first_failure` (may be empty; must not throw) is called once, on home, while
/// the others still run, so that the caller can bump an epoch. A child's exception becomes an
/// Error. Cancelling the caller abandons nobody: the join goes on, and the cancellation is seen by
/// the caller's next co_await. Everything the branches refer to must outlive this call, and every
/// executor must run until it returns.
template <typename T>
Task<std::vector<Result<T>>> when_all(std::vector<Branch<T>> branches,
                                      std::function<void(const Error&)> on_first_failure) {
  const asio::any_io_executor home = co_await asio::this_coro::executor;
  // Between spawning and joining nothing may throw: children write into this frame.
  const bool throwing = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  std::vector<Result<T>> results(branches.size());
  JoinCounter join(home, branches.size(), std::move(on_first_failure));
  for (std::size_t i = 0; i < branches.size(); ++i) {
    Result<T>& slot = results[i];
    const auto settle = [&join, &slot](const std::exception_ptr& exception, Result<T> result) {
      if (exception) {
        slot = error_of(exception);
      } else {
        slot = std::move(result);
      }
      if (!slot.ok()) join.failed(slot.error());
      join.arrived();
    };
    try {
      asio::co_spawn(branches[i].where(), without_exceptions(std::move(branches[i]).take()),
                     asio::bind_executor(home, settle));
    } catch (...) {
      settle(std::current_exception(), Result<T>());
    }
  }
  if (join.pending() > 0) co_await join.wait();
  co_await asio::this_coro::throw_if_cancelled(throwing);
  co_return results;
}

}  // namespace corail
