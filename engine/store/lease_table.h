#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/memory/pin.h"
#include "engine/plan/lane_range.h"
#include "engine/store/leased_ranges.h"
#include "engine/store/store_types.h"

namespace corail::detail {

/// Who may read what until when. One timer per lease; ended reads are remembered for a while, so
/// that a lapse is told from a mistake and a release may overtake its query.
///
/// Owned by a store. All members but admit() on the home executor, destruction too: a timer that is
/// destroyed there calls back no more. admit() on any thread. Nothing may be called for a
/// session after drop_session() of it.
class LeaseTable {
 public:
  LeaseTable(const StoreOptions& options, Clock& clock, asio::any_io_executor executor, BootId boot)
      : options_(options), clock_(clock), executor_(std::move(executor)), boot_(boot) {}

  struct Granted {
    LeaseId id;
    Duration ttl{};
  };

  /// Whether the read may get a lease: kQuotaExceeded, kCancelled (it has ended already),
  /// kInvalidArgument (it has one).
  Result<void> may_grant(SessionId session, ReadId read);
  /// Whether the session may keep so much more memory in place: kQuotaExceeded.
  Result<void> may_hold(SessionId session, std::uint64_t held_bytes);
  /// After both said yes, in the same turn of the executor. `held` is what else the lease keeps: it
  /// goes with the lease, on the home executor, while `bytes` may stay with pins.
  Granted grant(SessionId session, ReadId read, std::shared_ptr<const LeasedRanges> bytes,
                std::uint64_t held_bytes, Duration ttl, std::shared_ptr<const void> held = nullptr);

  /// The lease lasts `ttl` from now on, and no less than it did. A lapsed one stays lapsed (I9).
  Result<Duration> renew(SessionId session, ReadId read, Duration ttl);

  /// That the lease has not lapsed up to now. It goes on.
  Result<void> confirm(SessionId session, ReadId read);
  Result<void> confirm_and_release(SessionId session, ReadId read);
  void release(SessionId session, ReadId read);
  void quiesce(SessionId session, ReadId read);
  void drop_session(SessionId session);

  Result<PinnedBytes> admit(SessionId session, ReadId read, RegionId region, std::uint64_t offset,
                            std::uint64_t length) const;

  /// What a live lease is about. As admit().
  Result<std::shared_ptr<const LeasedRanges>> live_bytes(SessionId session, ReadId read) const;
  /// Whether the read has a lease, or had one, or was released before it came, as far as that is
  /// remembered.
  bool knows(SessionId session, ReadId read) const;

  /// LeasedRanges::lane_sums of a live lease; checks the range, which is remote input (I5).
  Result<std::vector<std::uint64_t>> lane_sums(SessionId session, ReadId read,
                                               LaneRange lanes) const;

  std::uint64_t leases() const;
  std::uint64_t ended_reads() const;
  std::uint64_t lapsed() const;

 private:
  enum class End { kReleased, kLapsed };
  struct Lease {
    TimePoint expires;
    bool quiesced = false;
    std::uint64_t held_bytes = 0;
    std::shared_ptr<const LeasedRanges> bytes;
    std::shared_ptr<const void> held;
    std::unique_ptr<Timer> timer;
  };
  struct EndedRead {
    End how = End::kReleased;
    TimePoint forget;
  };
  struct Session {
    std::unordered_map<ReadId, Lease> leases;     // at most max_leases_per_requester
    std::unordered_map<ReadId, EndedRead> ended;  // at most max_ended_reads_per_requester
    std::deque<ReadId> ended_order;               // oldest first; the same reads
    std::uint64_t held_bytes = 0;                 // of all leases
  };

  // All with the mutex held. A lease that is taken out is destroyed by the caller after unlocking:
  // its bytes may be many extents.
  Session& session_of(SessionId session);
  void prune(Session& session);
  void remember(Session& session, ReadId read, End how);
  Lease take(Session& session, ReadId read, End how);
  /// The lease, if it is live; one that has lapsed is taken out, into `lapsed`.
  Result<Lease*> find_live(Session& session, ReadId read, Lease& lapsed);

  std::unique_ptr<Timer> start_timer(SessionId session, ReadId read, TimePoint expires);
  void on_timer(SessionId session, ReadId read);

  const StoreOptions options_;
  Clock& clock_;
  const asio::any_io_executor executor_;
  const BootId boot_;

  mutable std::mutex mutex_;
  std::unordered_map<SessionId, Session> sessions_;
  std::size_t sweep_at_ = 64;
  std::uint64_t next_counter_ = 1;
  std::uint64_t lapsed_ = 0;
};

}  // namespace corail::detail
