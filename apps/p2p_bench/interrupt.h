#pragma once

#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "apps/p2p_bench/descriptor.h"

namespace corail::bench {

/// Turns SIGINT and SIGTERM into a call on a thread of its own. Made by main() before any other
/// thread, so that every later thread inherits the blocked signals; destroyed last. The first
/// signal asks the run to end well; a second one ends the process at once.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// The signal that came, 0 while none has. Any thread.
  int signal() const;

  /// What to do about the first signal, given its number: on the signal thread, or at once if it
  /// came already. Replaces the action before, which is not running any more when this returns;
  /// empty for none. An action must neither wait nor use this object.
  void on_signal(std::function<void(int signal)> action);

  /// An action for the length of a scope.
  class Scope {
   public:
    Scope(Interrupt& interrupt, std::function<void(int signal)> action) : interrupt_(interrupt) {
      interrupt_.on_signal(std::move(action));
    }
    ~Scope() { interrupt_.on_signal({}); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Interrupt& interrupt_;
  };

 private:
  void watch();

  Descriptor signals_;
  Descriptor stop_;  // eventfd
  mutable std::mutex mutex_;
  std::function<void(int)> action_;
  int signal_ = 0;
  std::thread thread_;
};

}  // namespace corail::bench
