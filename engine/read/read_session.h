#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "engine/memory/read_state.h"
#include "engine/memory/slab_pool.h"
#include "engine/plan/read_plan.h"
#include "engine/plan/schedule.h"
#include "engine/rail/rail.h"
#include "engine/read/cancel_token.h"
#include "engine/read/commit_copy.h"
#include "engine/read/expectation.h"
#include "engine/read/owner.h"
#include "engine/read/rail_share.h"
#include "engine/read/read_integrity.h"
#include "engine/read/read_report.h"
#include "engine/read/stuck_memory.h"

namespace corail {

/// What one read needs. The rails and the owner outlive the read.
struct ReadRequest {
  ReadRequest() {}

  ReadId read;
  /// Other reads run under the same lease. Then `epoch` tells them apart, on the rails as well: it
  /// is one of this read's own, and the next is nobody's. The read confirms without giving the
  /// lease back, and when it gives up, it tells the owner nothing, which would end the others:
  /// the rails' fences and windows bound its wait.
  bool shares_lease = false;
  EpochNumber epoch{1};
  std::shared_ptr<const ReadPlan> plan;
  std::vector<SlabChunk> chunks;  // by index in plan->chunks(); of a pool, or a caller's own
  std::vector<Rail*> rails;       // at least one; those that are not ready are skipped
  /// Which of the plan's owners each rail reaches, by index in `rails`; empty: all reach the first.
  /// Every owner needs a rail, and `owner` of the session speaks for all of them.
  std::vector<std::uint32_t> rail_owners;
  /// The owners write what is read, when they are asked to (Slice::pushed), instead of being read.
  /// Then the plan's regions are one for each owner, from 0 to the size of the object, addresses
  /// count from the beginning of the object, and `region_keys` mean nothing. Rails that do not push
  /// are skipped. A read that gives up is over only when its owner has ended what it writes
  /// (Owner::release), and each rail is fenced all the same.
  bool pushed = false;
  /// The holder's keys for each rail, because they are per port: by index in `rails`, then in the
  /// region table, 0 where there is none. Empty where no rail has keys, as is the vector of a rail
  /// that has none. A rail that needs keys and lacks one of a region of the plan is skipped.
  std::vector<std::vector<std::uint64_t>> region_keys;
  std::uint64_t max_slice_bytes = 0;
  /// Which rail takes which slice (make_schedule); none: the first that has room, as least_loaded.
  std::shared_ptr<const SchedulePolicy> scheduler;
  /// The NUMA node that each rail's port is near, by index in `rails`; -1, or none at all: nobody
  /// knows.
  std::vector<std::int32_t> rail_nodes;
  std::optional<Expectation> expectation;  // of the plan's kind; none: nothing is hashed
  TimePoint deadline{};  // the caller's, or the lease's end less a margin, whichever is sooner
  Duration fence_deadline{};
  CancelToken cancel;
  /// When the path of a rail fails, the others read what it has not brought, and nothing else; the
  /// read fails with the last of them. Off: it fails with the first (contract 6), but for rails on
  /// trial, whose breakers are half-open when the read begins.
  bool retry_on_survivors = false;
  /// Memory of the caller's own that gets a copy of what was read once it is committed, laid out as
  /// the plan says; on any other outcome no byte of it changes (contract 7). It must have
  /// plan->copy_bytes(), and be valid until run() has returned.
  std::optional<std::span<std::byte>> copy_on_commit;
  /// Where chunks are a caller's own (CallersMemory): told on a rail's executor, once for each rail
  /// whose device hangs, what may still be written; must not block. run() does not return before
  /// the device has ended that (contract 4).
  std::function<void(const StuckMemory&)> on_stuck;
};

/// One read: fan out → when_all → prepare → confirm → commit, around one atomic.
///
/// Lives in the frame of whoever awaits run(), on the home executor; it is not destroyed before
/// run() has returned. Cancel, deadline and failure do the same (contract 3): bump the epoch, post
/// nothing more, tell the owner, wait for what is in flight, fence. run() returns only when
/// quiescent, and with a success only when committed. There is one exception: where a device hangs
/// and the destination is the engine's, that is quarantined for ever, and the read fails with
/// kStuck.
class ReadSession {
 public:
  ReadSession(asio::any_io_executor home, Clock& clock, Owner& owner, ReadRequest request);
  ReadSession(const ReadSession&) = delete;
  ReadSession& operator=(const ReadSession&) = delete;
  ~ReadSession();

  /// Once only. Fills the report's stages from submit to copy and its counts, also where the read
  /// fails.
  Task<Result<void>> run(ReadReport& report);

  /// The lease lasts longer than the request said: the read may take until then. On home; while
  /// run() has not returned.
  void extend(TimePoint deadline);

  ReadPhase phase() const noexcept { return state_.phase(); }

 private:
  // Starting: read_start.cc.
  Result<void> may_start();
  Result<void> check_chunks() const;
  Result<void> check_owners() const;
  Result<void> check_members() const;
  Result<void> check_keys() const;
  std::uint32_t owner_of(std::size_t rail) const noexcept {
    return request_.rail_owners.empty() ? 0 : request_.rail_owners[rail];
  }
  Result<void> check_copy() const;
  Result<void> choose_integrity();
  Result<void> choose_rails();
  std::optional<std::string> lacks_key(std::size_t rail) const;
  std::optional<std::string> cannot_serve(std::size_t rail) const;
  std::vector<std::uint32_t> rails_of_owners() const;

  Task<Result<void>> attempt(ReadReport& report);
  void build_shares();
  void build_dealers();
  void heed_callers_memory();
  void arm_deadline();
  void stop(Error reason);
  Task<Result<void>> fan_out();
  Result<void> prepare(ReadReport& report);
  Task<Result<void>> confirm(ReadReport& report);
  void prepare_copy(std::optional<CommitCopy>& copy) const;
  Task<void> give_back();
  void count(ReadReport& report) const;
  std::uint32_t thread_of(const RailShare& share) const;

  const asio::any_io_executor home_;
  Clock& clock_;
  Owner& owner_;
  ReadRequest request_;
  ReadState state_;
  std::unique_ptr<const ReadIntegrity> integrity_;  // null: nothing is hashed
  /// Once the rails are known. On the heap, because it is aligned to cache lines: GCC 12 allocates
  /// coroutine frames, in which sessions live, without regard to that.
  std::unique_ptr<SharedRead> shared_;
  TaskScope scope_;                                  // the notice to the owner
  std::vector<std::shared_ptr<RailShare>> shares_;   // of the rails that are not skipped, in order
  std::vector<std::optional<std::string>> skipped_;  // by index in the request's rails: why
  std::vector<bool> on_trial_;                       // likewise: the breaker is half-open
  std::unique_ptr<Timer> deadline_timer_;            // while shares run
  bool gave_back_ = false;                           // the owner was told that it is over
  bool posting_ = false;                             // shares run: there is something to stop
  std::optional<Error> reason_;                      // why the read was stopped; the first counts
  std::optional<TimePoint> stopped_at_;
  /// Makes a cancel that is on its way to home find out that the session is gone.
  std::shared_ptr<ReadSession*> self_;
};

}  // namespace corail
