#pragma once

#include <asio/this_coro.hpp>
#include <type_traits>
#include <utility>

#include "engine/exec/task.h"

namespace corail {

/// Runs a task to its end although the caller may have been cancelled: inside, co_await does not
/// throw operation_aborted on its own. The caller's next co_await outside does.
///
/// Operations that react to a cancellation slot still do; give them an unconnected one. A task that
/// throws leaves the shield up, so it should not.
template <typename T>
Task<T> shielded(Task<T> task) {
  const bool throwing = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  if constexpr (std::is_void_v<T>) {
    co_await std::move(task);
    co_await asio::this_coro::throw_if_cancelled(throwing);
  } else {
    auto result = co_await std::move(task);
    co_await asio::this_coro::throw_if_cancelled(throwing);
    co_return result;
  }
}

}  // namespace corail
