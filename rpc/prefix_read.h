#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/memory/slab_pool.h"
#include "engine/plan/block_plan.h"
#include "engine/plan/lane_range.h"
#include "engine/read/block_view.h"
#include "engine/read/integrity.h"
#include "engine/read/read_report.h"
#include "rpc/call.h"
#include "rpc/fetch_context.h"
#include "rpc/messages.h"
#include "rpc/options.h"
#include "rpc/prefix_lease.h"

namespace corail {

/// One read of a leased prefix: check and plan → allocate → read → seal.
/// Of some lanes only, the holder is asked first what to verify them with.
///
/// Lives in the frame that awaits run(), on the home executor, as does the lease.
class PrefixRead {
 public:
  /// Of everything that is leased; its end is that of the lease, too.
  PrefixRead(FetchContext context, PrefixLease& lease, const FetchOptions& options,
             TimePoint callers_deadline);
  /// Of some lanes, under a lease that stays; `epoch` as ReadRequest has it.
  PrefixRead(FetchContext context, PrefixLease& lease, const FetchOptions& options,
             TimePoint callers_deadline, LaneRange lanes, EpochNumber epoch);
  PrefixRead(const PrefixRead&) = delete;
  PrefixRead& operator=(const PrefixRead&) = delete;

  /// Once only. `report` is what is known of the read so far. Throws what running out of memory
  /// throws: the sizes of what is allocated come from the holder.
  Task<Result<BlockView>> run(ReadReport report);

  /// The engine's read has ended and has given the lease back, whatever its outcome.
  bool lease_given_back() const noexcept { return lease_given_back_; }

 private:
  /// The user's limit or the rails', whichever is less.
  std::uint64_t max_slice_bytes() const noexcept;
  Result<void> plan();
  Task<Result<void>> expect();
  Result<void> expect_sums(LaneSums told);
  Task<Result<void>> allocate();
  Task<Result<void>> read();

  const FetchContext context_;
  PrefixLease& lease_;
  const FetchOptions& options_;
  const TimePoint callers_deadline_;
  const LaneRange lanes_;
  const std::optional<EpochNumber> epoch_;  // where the lease stays
  CallCancel cancel_sums_;
  std::shared_ptr<const BlockPlan> plan_;
  std::vector<SlabChunk> chunks_;
  std::optional<BlockExpectation> expectation_;
  bool lease_given_back_ = false;
  ReadReport report_;
};

}  // namespace corail
