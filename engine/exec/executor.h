#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/clock.h"
#include "engine/exec/poller.h"

namespace corail {

struct ExecutorOptions {
  /// How long to go on polling after the last completion before sleeping. 0: sleep at once.
  Duration spin{0};
  /// The CPUs on which the thread may run; empty: any. A set, never a single core by policy.
  std::vector<int> cpus;
};

/// One thread's worth of work: an io_context and the pollers that are asked between its handlers.
///
/// Owned by the node; outlives everything that was given its asio_executor(). What is still
/// suspended when it is destroyed is dropped: its frames are destroyed without being resumed.
class Executor {
 public:
  /// With its own thread, which runs from start() to stop().
  explicit Executor(std::string name, ExecutorOptions options = {});
  /// Attached: handlers run where the caller runs `callers`, on one thread. Pollers are never
  /// spun on here, only asked when they have woken us.
  Executor(std::string name, asio::io_context& callers);
  /// The thread must have been stopped.
  ~Executor();
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  /// Starts the thread. Once only; throws std::system_error when the system has no thread left.
  /// CPUs that cannot be used are reported in the log, no failure. Attached: does nothing.
  void start();
  /// Ends the thread after the handler that is running, and joins it. Idempotent, from any other
  /// thread. Attached: only forgets the pollers, and must then be called on the thread that runs
  /// the context or after it.
  void stop();

  asio::any_io_executor asio_executor();
  asio::io_context& context() noexcept { return context_; }
  const std::string& name() const noexcept { return name_; }

  /// True on the owner thread. Attached: true inside a handler of the caller's io_context.
  bool on_thread() const noexcept;

  /// On the owner thread, or while there is none (before start(), after stop()). Not owned: remove
  /// before destroying. Both may be called from within Poller::poll().
  void add_poller(Poller& poller);
  void remove_poller(Poller& poller);

  /// A poller's wake-up has arrived: poll soon. Called by pollers on the owner thread, from the
  /// handler that arm() asked for. Idempotent.
  void wake();

 private:
  void run_thread();
  void run_polling();
  bool poll_once();
  bool arm_all();
  void disarm_all();
  void sweep_removed();
  void attached_round();
  bool may_change_pollers() const noexcept;

  const std::string name_;
  const ExecutorOptions options_;
  std::unique_ptr<asio::io_context> owned_;  // null when attached
  asio::io_context& context_;
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
  SteadyClock spin_clock_;  // spinning is about this machine's time, never about virtual time

  // Owner thread only.
  std::vector<Poller*> pollers_;  // null: removed during the pass over it
  bool passing_ = false;

  std::shared_ptr<bool> round_posted_;  // attached: a round is queued; shared with that handler
  std::atomic<bool> stopping_{false};
  std::atomic<std::thread::id> owner_{};
  std::thread thread_;
  bool started_ = false;
};

}  // namespace corail
