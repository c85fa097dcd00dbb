#pragma once

#include <memory>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/read/block_view.h"
#include "engine/read/read_report.h"
#include "rpc/fetch_admission.h"
#include "rpc/fetch_context.h"
#include "rpc/options.h"
#include "rpc/prefix_lease.h"

namespace corail {

/// One fetch of blocks: room in the budgets, a lease, and one read of all of it that gives it back.
///
/// Lives in the frame that awaits run(), on the home executor. Whatever happens after the query was
/// sent, the lease is given back, either by the confirmation or by a release.
class BlockFetch {
 public:
  BlockFetch(FetchContext context, ReadId read, std::shared_ptr<const Layout> layout,
             std::shared_ptr<const BlockKeys> keys, FetchOptions options);
  BlockFetch(const BlockFetch&) = delete;
  BlockFetch& operator=(const BlockFetch&) = delete;

  /// Once only. The outcomes are those of Peer::fetch_blocks.
  Task<Result<BlockView>> run();

 private:
  Task<Result<void>> enter();
  Task<Result<BlockView>> query_and_read();

  const FetchContext context_;
  const FetchOptions options_;
  const TimePoint callers_deadline_;
  PrefixLease lease_;
  FetchAdmission admission_;
  ReadReport report_;  // until the read takes it over
  bool given_back_ = false;
};

}  // namespace corail
