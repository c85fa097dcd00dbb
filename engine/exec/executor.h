#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/clock.h"
#include "engine/exec/poller.h"

namespace corail {

/// For threads that answer or hand on, and are through in microseconds.
inline constexpr Duration kBriefSlice = std::chrono::microseconds(100);
/// For threads that move bytes: the next one on the core need not wait for longer, and their caches
/// outlive it.
inline constexpr Duration kBulkSlice = std::chrono::microseconds(500);

struct ExecutorOptions {
  /// How long to go on polling after the last completion before sleeping. 0: sleep at once.
  Duration spin{0};
  /// The CPUs on which the thread may run; empty: any. A set, never a single core by policy.
  std::vector<int> cpus;
  /// How long the thread wants to run at a stretch where threads share a core, 0.1 to 100 ms; 0: as
  /// the system likes. The shorter, the sooner the scheduler lets it run once it is woken, though
  /// not more in all. A system that knows no such wish (Linux before 6.12) does as it likes.
  Duration slice = kBulkSlice;
};

/// Options of a thread that wants a brief slice.
inline ExecutorOptions brief_thread() {
  ExecutorOptions options;
  options.slice = kBriefSlice;
  return options;
}

/// One thread's worth of work: an io_context and the pollers that are asked between its handlers.
///
/// The pollers are asked in rounds. A round is a handler like any other, queued behind those that
/// are ready, so pollers and handlers never starve each other. It polls a few times, then queues
/// the next round; after the spin budget it arms the pollers and queues none, and the thread sleeps
/// in the io_context until a poller's wake-up or anything else is ready.
///
/// Owned by the node; outlives everything that was given its asio_executor(). Destroying it
/// abandons what is still suspended on it, so join what crosses executors first: a frame of another
/// executor that waits here would be reached through freed memory.
class Executor {
 public:
  /// With its own thread, which runs from start() to stop().
  explicit Executor(std::string name, ExecutorOptions options = {});
  /// Attached: handlers and rounds run where the caller runs `callers`, on one thread. It never
  /// spins; pollers are asked when one of them has woken us.
  Executor(std::string name, asio::io_context& callers);
  /// The thread must have been stopped and the pollers removed.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Starts the thread. Once only; throws std::system_error when the system has no thread left.
  /// CPUs that cannot be used are reported in the log, no failure. Attached: does nothing.
  void start();
  /// Ends the thread after the handler that is running, and joins it. Idempotent; called by the
  /// owner, not on the executor's own thread. Attached: ends the rounds, and must be called where
  /// add_poller() may be.
  void stop();

  asio::any_io_executor asio_executor() { return context_.get_executor(); }
  asio::io_context& context() noexcept { return context_; }
  const std::string& name() const noexcept { return name_; }

  /// True inside a handler of this executor, rounds included.
  bool on_thread() const noexcept;

  /// On the executor's thread, or while it has none (before start(), after stop()). Not owned:
  /// remove before destroying. Both may be called from within Poller::poll().
  void add_poller(Poller& poller);
  void remove_poller(Poller& poller);

  /// A poller's wake-up has arrived: poll soon. Called by pollers on the executor's thread, from
  /// the handler that arm() asked for. Idempotent.
  void wake();

 private:
  /// Shared with the queued handler, which may outlive an attached executor.
  struct Round {
    Executor* owner = nullptr;
    bool queued = false;
  };

  void run_thread() noexcept;
  void run_round();
  bool poll_until_busy();
  bool sleep_allowed(bool busy);
  template <typename F>
  void for_each_poller(F f);
  void check_owner() const noexcept;

  const std::string name_;
  const ExecutorOptions options_;
  const std::unique_ptr<asio::io_context> owned_;  // null when attached
  asio::io_context& context_;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
  SteadyClock spin_clock_;  // spinning is about this machine's time, never about virtual time

  // The executor's thread only.
  std::vector<Poller*> pollers_;  // null: removed during a pass over them
  bool passing_ = false;
  std::optional<TimePoint> idle_since_;
  std::shared_ptr<Round> round_;

  // The owner's thread only.
  std::thread thread_;
};

}  // namespace corail
