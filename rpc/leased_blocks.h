#pragma once

#include <cstdint>
#include <memory>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/credits.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/plan/lane_range.h"
#include "engine/read/block_view.h"
#include "engine/read/read_report.h"
#include "rpc/fetch_context.h"
#include "rpc/options.h"
#include "rpc/prefix_lease.h"

namespace corail {

/// Reads that may run under one lease at a time (I8).
inline constexpr std::uint32_t kMaxReadsOfALease = 256;

/// What a BlockLease stands for: a lease that is kept, and the reads under it.
///
/// Shared by the peer, until it is closed, and the user's BlockLease. Home executor only; once
/// closed, it may be let go of on any thread. What the context names outlives its close().
class LeasedBlocks {
 public:
  LeasedBlocks(FetchContext context, ReadId read, std::shared_ptr<const Layout> layout,
               std::shared_ptr<const BlockKeys> keys);
  LeasedBlocks(const LeasedBlocks&) = delete;
  LeasedBlocks& operator=(const LeasedBlocks&) = delete;

  /// Once only, and first. After a failure it is closed.
  Task<Result<void>> open(FetchOptions options);
  /// BlockLease::read.
  Task<Result<BlockView>> read(LaneRange lanes, FetchOptions options);
  /// Waits for running reads. Without `tell_holder` the lease ends with its session. Idempotent;
  /// several at once wait for each other.
  Task<void> close(bool tell_holder);

  bool closed() const noexcept { return closed_; }
  std::uint32_t block_count() const noexcept { return lease_.answer().block_count; }
  const ReadReport& query_report() const noexcept { return query_report_; }

 private:
  Result<void> may_open(const FetchOptions& options) const;
  Result<void> may_read(const FetchOptions& options) const;
  Task<Result<BlockView>> admitted_read(LaneRange lanes, EpochNumber epoch,
                                        const FetchOptions& options, TimePoint deadline);

  const FetchContext context_;
  PrefixLease lease_;
  ReadReport query_report_;  // unchanged once open
  std::uint64_t next_epoch_ = 1;
  std::uint32_t running_ = 0;
  Event idle_;
  Credits closing_turn_;  // one closes, others wait for it
  bool closing_ = false;
  bool closed_ = false;
};

}  // namespace corail
