#pragma once

#include <asio/any_io_executor.hpp>
#include <functional>
#include <memory>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "rpc/call.h"
#include "rpc/session_client.h"

namespace corail {

/// Keeps the lease of one running read alive: asks for more time at half-time.
///
/// A renewal counts from when it was *sent*; one that is not answered extends nothing and is asked
/// for again, in half of what is left. A holder's no ends it: a lapsed lease never comes back.
///
/// Lives in the frame of the fetch, on the home executor; stop() must have been awaited before
/// destruction. Clock and session outlive it.
class LeaseKeeper {
 public:
  /// `ends` is when the lease ends if nobody renews it, `ttl` what is asked for. `extended` is
  /// called on home with the lease's new end.
  LeaseKeeper(asio::any_io_executor home, Clock& clock, SessionClient& session, ReadId read,
              Duration ttl, TimePoint ends, std::function<void(TimePoint ends)> extended);

  void start();
  /// Ends a renewal that is under way, and waits for it. Idempotent.
  Task<void> stop();

 private:
  Task<void> keep();
  Task<bool> renew();

  Clock& clock_;
  SessionClient& session_;
  const ReadId read_;
  const Duration ttl_;
  TimePoint ends_;
  const std::function<void(TimePoint ends)> extended_;
  const std::unique_ptr<Timer> timer_;
  CallCancel cancel_;
  bool stopped_ = false;
  TaskScope scope_;
};

}  // namespace corail
