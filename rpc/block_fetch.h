#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/region_table.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/memory/slab_pool.h"
#include "engine/rail/rail_set.h"
#include "engine/read/block_view.h"
#include "rpc/call.h"
#include "rpc/messages.h"
#include "rpc/options.h"
#include "rpc/session_client.h"

namespace corail {

/// What all fetches from one peer share. Owned by the peer, whose close() waits for every fetch.
/// Home executor only.
struct FetchContext {
  asio::any_io_executor home;
  Clock& clock;
  SessionClient& session;
  SlabPool& memory;
  const NodeOptions& options;
  const RailSet& rails;
};

/// One fetch of blocks: query → check and plan → allocate → read → seal.
///
/// Lives in the frame that awaits run(), on the home executor. Whatever happens after the query was
/// sent, the lease is given back, either by the confirmation or by a release, which may overtake
/// the query.
class BlockFetch {
 public:
  BlockFetch(FetchContext context, ReadId read, std::shared_ptr<const Layout> layout,
             std::shared_ptr<const BlockKeys> keys, FetchOptions options);
  BlockFetch(const BlockFetch&) = delete;
  BlockFetch& operator=(const BlockFetch&) = delete;

  /// Once only. The outcomes are those of Peer::fetch_blocks.
  Task<Result<BlockView>> run();

 private:
  Result<void> check_arguments() const;
  /// The user's limit or the rails', whichever is less.
  std::uint64_t max_slice_bytes() const noexcept;
  Task<Result<void>> query_and_read();
  Task<Result<void>> query();
  Result<void> plan();
  Result<void> allocate();
  Task<Result<void>> read();
  Task<void> release();

  const FetchContext context_;
  const ReadId read_;
  const std::shared_ptr<const Layout> layout_;
  const std::shared_ptr<const BlockKeys> keys_;
  const FetchOptions options_;
  const TimePoint callers_deadline_;
  TimePoint usable_until_{};  // the lease, from the answer on: its end less the margin
  CallCancel cancel_query_;
  QueryAnswer answer_;
  std::shared_ptr<const RegionTable> regions_;  // in which the answer's addresses lie
  std::shared_ptr<const BlockPlan> plan_;
  std::vector<SlabChunk> chunks_;
  bool given_back_ = false;  // the read session has ended, and the lease with it
  ReadReport report_;
};

}  // namespace corail
