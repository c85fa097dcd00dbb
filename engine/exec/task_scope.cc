#include "engine/exec/task_scope.h"

#include <asio/co_spawn.hpp>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/log.h"
#include "engine/exec/when_all.h"

namespace corail {

TaskScope::TaskScope(asio::any_io_executor executor)
    : executor_(std::move(executor)), idle_(executor_) {}

TaskScope::~TaskScope() {
  CORAIL_CHECK(running_ == 0, "a TaskScope was destroyed before its tasks were joined");
}

void TaskScope::spawn(Task<void> task) {
  ++running_;
  try {
    asio::co_spawn(executor_, std::move(task),
                   [this](std::exception_ptr exception) { finished(std::move(exception)); });
  } catch (...) {
    --running_;  // the task has not started
    throw;
  }
}

Task<void> TaskScope::join() {
  while (running_ > 0) {
    co_await idle_.wait();
  }
}

void TaskScope::finished(std::exception_ptr exception) {
  if (exception) {
    log(LogLevel::kError, "a task ended with an exception: {}", error_of(exception).detail());
  }
  if (--running_ == 0) idle_.notify();
}

}  // namespace corail
