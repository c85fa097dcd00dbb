#pragma once

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <exception>
#include <optional>
#include <utility>

#include "engine/exec/task.h"

// Where GCC 12 inlines the start of a coroutine into its only caller, it takes Asio's allocation of
// frames for a mismatch with their operator delete. For the rest of the file that includes this.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace corail::test {

/// Runs the io_context on this thread until the task has ended, and rethrows what it threw.
inline void run_task(asio::io_context& context, Task<void> task) {
  std::optional<std::exception_ptr> ended;
  asio::co_spawn(context, std::move(task),
                 [&ended](std::exception_ptr thrown) { ended.emplace(std::move(thrown)); });
  context.restart();
  while (!ended) context.run_one();
  if (*ended) std::rethrow_exception(*ended);
}

}  // namespace corail::test
