#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/use_future.hpp>
#include <future>
#include <type_traits>
#include <utility>

#include "engine/exec/task.h"

namespace corail::bench {

/// Runs `f` on the node's executor and waits for it. Called from outside of the node's threads.
template <typename F>
std::invoke_result_t<F&> call_on(const asio::any_io_executor& executor, F f) {
  // Asio takes a packaged_task for a completion token, whose result is its future.
  return asio::post(executor, std::packaged_task<std::invoke_result_t<F&>()>(std::move(f))).get();
}

/// Runs a coroutine on the node's executor and waits for it. As above.
template <typename T>
T await_on(const asio::any_io_executor& executor, Task<T> task) {
  return asio::co_spawn(executor, std::move(task), asio::use_future).get();
}

}  // namespace corail::bench
