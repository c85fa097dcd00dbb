#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <exception>

#include "engine/exec/event.h"
#include "engine/exec/task.h"

namespace corail {

/// Owns the tasks that run beside its owner: what is spawned here is joined here.
///
/// All members on the executor's thread. Cancels nothing: whoever owns the scope makes its tasks
/// end, then joins. The destructor checks that no task runs, because a task that outlives its scope
/// would use dead memory.
class TaskScope {
 public:
  explicit TaskScope(asio::any_io_executor executor);
  ~TaskScope();
  TaskScope(const TaskScope&) = delete;
  TaskScope& operator=(const TaskScope&) = delete;

  /// Runs the task on the scope's executor, possibly starting within this call. A task should not
  /// throw: an exception ends it and goes to the log.
  void spawn(Task<void> task);

  /// Returns when no task runs, those included that were spawned meanwhile. One joiner at a time.
  /// Does not react to Asio's cancellation, but to start it a caller that may be cancelled must
  /// have disabled cancellation first (co_await itself throws otherwise). The scope may be used
  /// again afterwards.
  Task<void> join();

  std::size_t running() const noexcept { return running_; }

 private:
  void finished(std::exception_ptr exception);

  const asio::any_io_executor executor_;
  Event idle_;
  std::size_t running_ = 0;
};

}  // namespace corail
