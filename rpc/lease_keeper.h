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

/// Keeps the lease of one running read alive: asks for more at half of the time that is of use,
/// which is the lease's less a margin.
///
/// A renewal counts from when it was *sent*; one that is not answered extends nothing and is asked
/// for again, in half of what is left. A holder's no ends it: a lapsed lease never comes back.
///
/// Lives in the frame of the fetch, on the home executor; stop() must have been awaited before
/// destruction. Clock and session outlive it.
class LeaseKeeper {
 public:
  /// How a lease stands: `ends` is when it is of use no more if nobody renews it.
  struct Lease {
    ReadId read;
    TimePoint ends;  // the margin before the lease's own end
    Duration ttl{};  // what is asked for
    Duration margin{};
  };

  /// `extended` is called on home with the new end.
  LeaseKeeper(asio::any_io_executor home, Clock& clock, SessionClient& session, const Lease& lease,
              std::function<void(TimePoint ends)> extended);

  void start();
  /// Ends a renewal that is under way, and waits for it. Idempotent.
  Task<void> stop();

 private:
  Task<void> keep();
  Task<bool> renew();

  Clock& clock_;
  SessionClient& session_;
  Lease lease_;
  const std::function<void(TimePoint ends)> extended_;
  const std::unique_ptr<Timer> timer_;
  CallCancel cancel_;
  bool stopped_ = false;
  TaskScope scope_;
};

}  // namespace corail
