#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/memory/pin.h"
#include "engine/memory/region_registry.h"
#include "engine/plan/lane_range.h"
#include "engine/plan/layout.h"
#include "engine/store/save.h"
#include "engine/store/seal_watch.h"
#include "engine/store/store_types.h"

namespace corail {

namespace detail {
class StoreState;
}

/// A holder's KV blocks and the leases on them. Costs grow with blocks and runs, never with the
/// segments of a block (I10).
///
/// Owned by the node, used on the home executor only, except for admit(). Slabs are registered when
/// it is made and unpublished when it is destroyed; memory stays mapped until the last pin is gone.
/// Registry and clock must outlive it. Nothing here waits.
class BlockStore {
 public:
  /// Maps and publishes one slab per node of the options. Throws std::runtime_error, naming the
  /// option, when that fails. `executor` is the home executor: the timers of leases and saves run
  /// there.
  BlockStore(StoreOptions options, RegionRegistry& registry, Clock& clock,
             asio::any_io_executor executor, BootId boot);
  BlockStore(const BlockStore&) = delete;
  BlockStore& operator=(const BlockStore&) = delete;
  ~BlockStore();

  /// The one shared instance of the layout in this store; the first one's NUMA hints stay.
  std::shared_ptr<const Layout> intern(Layout layout);

  /// Reserves bytes for those blocks that are not stored yet, evicting if need be, until they are
  /// sealed or StoreOptions::save_ttl is over. Fails with
  /// kInvalidArgument (sizes, parts, a NUMA node without memory), kTooLarge (hashes,
  /// or never fits), kOutOfMemory (too much is leased or being written), kQuotaExceeded
  /// (namespaces).
  Result<Save> begin(const SaveRequest& request);

  /// The longest prefix of the hashes that is stored with one layout, leased for the read. Blocks
  /// become most recently used. Fails with kInvalidArgument (sizes, a hash twice, the read has a
  /// lease already), kTooLarge (number of hashes), kQuotaExceeded (leases of the session, or
  /// their bytes),
  /// kCancelled (the read was released or quiesced before its query came).
  Result<QueryAnswer> query_for_transfer(const QueryRequest& request);

  /// Waits for those of the hashes that are not stored now: `complete` is called once all of them
  /// were sealed, from within the seal of the last one, so it must do no more than post. They may
  /// have been evicted again by the time that anybody looks. Where nothing is missing it is not
  /// called. Fails as a query does for its keys, and with kBusy where the session waits for as much
  /// as it may (StoreOptions::max_waiting_queries_per_requester).
  Result<std::unique_ptr<SealWatch>> watch(SessionId session, std::string_view name_space,
                                           std::span<const std::string_view> hashes,
                                           std::function<void()> complete);

  /// Success means that the read's lease has not lapsed up to now (I9), and gives it back.
  /// kLeaseExpired: it has, even if only the timer is late. kNotFound: there is no such lease.
  Result<void> confirm_and_release(SessionId session, ReadId read);

  /// The same, and the lease stays.
  Result<void> confirm(SessionId session, ReadId read);

  /// What the checksum terms of these lanes add up to, for each block of the read's prefix, as they
  /// were when the block was saved: with it a part of the lanes can be verified by itself.
  /// LaneRange{}: all. kInvalidArgument: a range without a lane, or beyond the layout's. kRefused:
  /// no such lease. kLeaseExpired: it lapsed. Its cost grows with blocks and parts, like the
  /// query's.
  Result<std::vector<std::uint64_t>> lane_sums(SessionId session, ReadId read,
                                               LaneRange lanes) const;

  /// The lease lasts `ttl` (0: the default; capped) from now on, and no less than it did; returns
  /// how long that is. kLeaseExpired: it has lapsed, and stays so (I9). kNotFound: no such lease.
  Result<Duration> renew(SessionId session, ReadId read, Duration ttl);

  /// Gives the lease back; nothing more is admitted for the read. Idempotent. Before its query it
  /// leaves a tombstone, so that the query finds the read ended.
  void release(SessionId session, ReadId read);

  /// Admits nothing more for the read, now and when its query is still to come. Its bytes stay
  /// leased until it is released or lapses.
  void quiesce(SessionId session, ReadId read);

  /// Releases everything the session holds and forgets what is remembered of it.
  void drop_session(SessionId session);

  /// The bytes, pinned (I6), if all of them lie inside the live lease of this read of this session.
  /// kRefused: outside of it, or no such lease. kLeaseExpired: it lapsed. From any thread; takes a
  /// lock for a map lookup. The first call for a lease sorts and fuses its intervals, the others
  /// are O(log intervals).
  Result<PinnedBytes> admit(SessionId session, ReadId read, RegionId region, std::uint64_t offset,
                            std::uint64_t length) const;

  /// Where a segment of a stored block lies, or kNotFound. For diagnosis: not a lookup of the data
  /// path, and no use of the block.
  Result<SegmentLocation> locate(std::string_view name_space, std::string_view hash,
                                 std::uint32_t lane) const;
  bool contains(std::string_view name_space, std::string_view hash) const;
  /// Removes one block; false when it is not there. Its bytes live on under leases and pins.
  bool erase(std::string_view name_space, std::string_view hash);

  StoreStats stats() const;
  /// One line per slab, for people.
  std::vector<std::string> describe() const;

 private:
  std::unique_ptr<detail::StoreState> state_;
};

}  // namespace corail
