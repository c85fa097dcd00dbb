#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/exec/task.h"

namespace corail::test {

/// io_contexts, one to begin with, and a clock that moves only when nothing else is left to do: the
/// whole engine on one thread in virtual time, the same each time it runs. Must outlive everything
/// that runs in it.
class VirtualWorld {
 public:
  /// What a started task came to; empty while it runs.
  template <typename T>
  using Outcome = std::shared_ptr<std::optional<T>>;

  asio::io_context& context() noexcept { return context_; }
  asio::any_io_executor executor() { return context_.get_executor(); }
  /// One more context, as if a thread of its own ran it: what belongs to one executor is told from
  /// what belongs to another.
  asio::io_context& add_context();
  /// From here on chance decides which of the contexts gets the next turn, as it does between
  /// threads; else they take turns. The source must outlive the world's steps.
  void shuffle(Random& random) noexcept { random_ = &random; }
  ManualClock& clock() noexcept { return clock_; }
  TimePoint now() const noexcept { return clock_.now(); }

  /// Runs one handler, or else moves to the next timer; false when there is neither.
  bool step();

  /// Runs handlers until none is ready. Time stands still. Throws when they never end.
  void settle();

  /// Settles, moves to the next timer, and so on, until no timer waits.
  void run_until_idle();

  /// The same, but not past `when`; ends at `when`, settled.
  void run_until(TimePoint when);
  void run_for(Duration time) { run_until(now() + time); }

  /// Starts a task. An exception of it is thrown by whoever drives the world.
  template <typename T>
  Outcome<T> start(Task<T> task) {
    auto outcome = std::make_shared<std::optional<T>>();
    asio::co_spawn(context_, std::move(task), [outcome](std::exception_ptr failed, T value) {
      if (failed) std::rethrow_exception(failed);
      outcome->emplace(std::move(value));
    });
    return outcome;
  }

  /// Runs a task to its end, and no further. Throws when the world goes idle before.
  template <typename T>
  T run(Task<T> task) {
    const Outcome<T> outcome = start(std::move(task));
    while (!outcome->has_value()) {
      if (!step()) throw std::logic_error("nothing is left to happen, and the task has not ended");
    }
    return std::move(**outcome);
  }

 private:
  /// Runs one ready handler of any context; false when there is none.
  bool run_one();

  ManualClock clock_;
  asio::io_context context_{1};
  std::vector<std::unique_ptr<asio::io_context>> more_;
  std::size_t turn_ = 0;
  Random* random_ = nullptr;
};

}  // namespace corail::test
