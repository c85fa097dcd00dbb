#pragma once

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/use_future.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <utility>

#include "engine/exec/executor.h"
#include "engine/exec/task.h"

namespace corail::test {

/// Long enough for a sanitizer build on a busy machine: it only ends tests that hang.
inline constexpr std::chrono::seconds kHang{120};

/// A task that has been started on an io_context; its outcome once there is one.
template <typename T>
class Started {
 public:
  Started(asio::io_context& context, Task<T> task) {
    asio::co_spawn(context, std::move(task),
                   asio::bind_cancellation_slot(
                       signal_.slot(), [state = state_](std::exception_ptr exception, T value) {
                         state->exception = exception;
                         state->value.emplace(std::move(value));
                       }));
  }

  bool done() const { return state_->value.has_value(); }
  bool threw() const { return state_->exception != nullptr; }
  T& value() {
    BOOST_REQUIRE(done());
    if (state_->exception) std::rethrow_exception(state_->exception);
    return *state_->value;
  }
  /// On the io_context's thread.
  void cancel() { signal_.emit(asio::cancellation_type::terminal); }

 private:
  struct State {
    std::exception_ptr exception;
    std::optional<T> value;
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
  asio::cancellation_signal signal_;
};

/// Runs what is ready, and what that makes ready, without waiting.
inline void settle(asio::io_context& context) {
  context.restart();
  context.poll();
}

/// Runs the context until all tasks that were started on it are done.
template <typename... T>
void finish(asio::io_context& context, const Started<T>&... tasks) {
  context.restart();
  while (!(tasks.done() && ...)) BOOST_REQUIRE(context.run_one_for(kHang) == 1);
}

/// Runs one task on the context to its end.
template <typename T>
T run(asio::io_context& context, Task<T> task) {
  Started<T> started(context, std::move(task));
  finish(context, started);
  return std::move(started.value());
}

/// Runs the task on an executor with its own thread and waits for it.
template <typename T>
T run(Executor& executor, Task<T> task) {
  auto future = asio::co_spawn(executor.asio_executor(), std::move(task), asio::use_future);
  BOOST_REQUIRE(future.wait_for(kHang) == std::future_status::ready);
  return future.get();
}

/// Goes to the back of the executor's queue.
inline Task<void> yield() {
  const auto executor = co_await asio::this_coro::executor;
  co_await asio::post(executor, asio::use_awaitable);
}

/// Executors with threads, stopped at the end.
class Threads {
 public:
  explicit Threads(int count) {
    for (int i = 0; i < count; ++i) {
      executors_.push_back(std::make_unique<Executor>("test-" + std::to_string(i)));
      executors_.back()->start();
    }
  }
  ~Threads() {
    for (auto& executor : executors_) executor->stop();
  }
  Executor& operator[](std::size_t index) { return *executors_[index]; }
  std::size_t size() const { return executors_.size(); }

 private:
  std::vector<std::unique_ptr<Executor>> executors_;
};

}  // namespace corail::test
