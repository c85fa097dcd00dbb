#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/memory/slab_pool.h"
#include "engine/plan/block_plan.h"
#include "engine/read/block_view.h"
#include "engine/read/read_report.h"
#include "rpc/fetch_context.h"
#include "rpc/options.h"
#include "rpc/prefix_lease.h"

namespace corail {

/// One read of a leased prefix: check and plan → allocate → read → seal.
///
/// Lives in the frame that awaits run(), on the home executor, as does the lease.
class PrefixRead {
 public:
  PrefixRead(FetchContext context, PrefixLease& lease, const FetchOptions& options,
             TimePoint callers_deadline);
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
  Result<void> allocate();
  Task<Result<void>> read();

  const FetchContext context_;
  PrefixLease& lease_;
  const FetchOptions& options_;
  const TimePoint callers_deadline_;
  std::shared_ptr<const BlockPlan> plan_;
  std::vector<SlabChunk> chunks_;
  bool lease_given_back_ = false;
  ReadReport report_;
};

}  // namespace corail
