#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/use_awaitable.hpp>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

#include "engine/exec/task.h"

namespace corail {

/// How a task ended, on its way to another thread. It is moved, never copied: the thread that it
/// leaves keeps no reference to the exception.
template <typename T>
class Ending {
 public:
  Ending() = default;

  void set(T value) { value_.emplace(std::move(value)); }
  void set_exception(std::exception_ptr exception) { exception_ = std::move(exception); }

  T take() && {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
  std::exception_ptr exception_;
};

/// Runs a task and keeps what it returns (std::monostate for nothing) or throws.
template <typename T, typename Kept = std::conditional_t<std::is_void_v<T>, std::monostate, T>>
Task<Ending<Kept>> run_to_its_end(Task<T> task) {
  Ending<Kept> ending;
  try {
    if constexpr (std::is_void_v<T>) {
      co_await std::move(task);
      ending.set(std::monostate());
    } else {
      T value = co_await std::move(task);
      ending.set(std::move(value));
    }
  } catch (...) {
    ending.set_exception(std::current_exception());
  }
  co_return std::move(ending);
}

/// Runs `task` on another executor and resumes with its result, or its exception, on the caller's.
///
/// The caller's cancellation is not passed on: a signal would reach the task on the wrong thread.
/// What the task refers to must outlive this call. Both executors must run until it returns.
template <typename T>
Task<T> run_on(asio::any_io_executor where, Task<T> task) {
  const asio::cancellation_slot unconnected;
  auto ending =
      co_await asio::co_spawn(where, run_to_its_end(std::move(task)),
                              asio::bind_cancellation_slot(unconnected, asio::use_awaitable));
  if constexpr (std::is_void_v<T>) {
    std::move(ending).take();
  } else {
    co_return std::move(ending).take();
  }
}

}  // namespace corail
