#pragma once

#include <cstdint>

#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/plan/lane_range.h"
#include "engine/read/block_view.h"
#include "engine/read/read_report.h"
#include "rpc/options.h"

namespace corail {

/// A prefix of blocks that a holder keeps in place, to be read by ranges of lanes. The lease is
/// renewed for as long as this is open.
///
/// Made by Peer::lease_blocks. Every member is called on the node's executor. close() must have
/// been awaited before destruction, here or by the close of the peer or the node. Each lease counts
/// against the holder's quota of leases and leased bytes.
class BlockLease {
 public:
  virtual ~BlockLease() = default;

  /// Blocks of the prefix that the holder has: at least 1, and fewer than were asked for where it
  /// is short.
  virtual std::uint32_t block_count() const noexcept = 0;

  /// What asking for the lease has cost; of its stages only the query.
  virtual const ReadReport& query_report() const noexcept = 0;

  /// Reads these lanes of all blocks, over all rails, verified and committed by themselves: a read
  /// of its own, with its own memory, deadline and cancel. Any number of times, in any order, also
  /// the same lanes again, and several at once; a cancel or a failure of one leaves the others
  /// alone. The view has those lanes only. When this returns, nothing writes into the memory of
  /// this read any more (I1).
  ///
  /// Fails as Peer::fetch_blocks does, and with kInvalidArgument (a range without a lane of the
  /// layout), kLeaseExpired (the lease has lapsed, which what was committed before survives), kBusy
  /// (256 reads run under the lease), kClosed. Budgets and Asio's cancellation work as there.
  /// `options.encoding` is that of the lease.
  virtual Task<Result<BlockView>> read(LaneRange lanes, FetchOptions options) = 0;

  /// Waits for running reads, then gives the lease back. Reads that begin later fail. Idempotent.
  virtual Task<void> close() = 0;
};

}  // namespace corail
