#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/use_awaitable.hpp>
#include <type_traits>
#include <utility>

#include "engine/exec/task.h"

namespace corail {

/// Runs `task` on another executor and resumes with its result, or its exception, on the caller's.
///
/// T must be default constructible. The caller's cancellation is not passed on: a signal would
/// reach the task on the wrong thread. What the task refers to must outlive this call. Both
/// executors must run until it returns.
template <typename T>
Task<T> run_on(asio::any_io_executor where, Task<T> task) {
  const asio::cancellation_slot unconnected;
  if constexpr (std::is_void_v<T>) {
    co_await asio::co_spawn(where, std::move(task),
                            asio::bind_cancellation_slot(unconnected, asio::use_awaitable));
  } else {
    auto result = co_await asio::co_spawn(
        where, std::move(task), asio::bind_cancellation_slot(unconnected, asio::use_awaitable));
    co_return result;
  }
}

}  // namespace corail
