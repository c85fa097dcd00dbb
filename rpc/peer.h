#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/object/object_descriptor.h"
#include "engine/read/block_view.h"
#include "engine/store/object_store_types.h"
#include "rpc/block_lease.h"
#include "rpc/object_messages.h"
#include "rpc/object_options.h"
#include "rpc/object_view.h"
#include "rpc/options.h"
#include "rpc/put_stream.h"

namespace corail {

/// One connected holder, with a rail set of its own. Shared by its users; every member is called on
/// the node's executor. When the control connection is lost, which a silent holder shows after
/// three keep-alive intervals, running fetches end with kConnectionLost, as does every later call;
/// the node closes the peer then, so connect again for a new one. The node closes all its peers
/// when it closes.
class Peer {
 public:
  virtual ~Peer() = default;

  /// Reads the longest prefix of `keys` that the holder has, over all rails, verified and
  /// committed. `layout` is the requester's own: a holder whose template differs is refused before
  /// anything is allocated. A short prefix is a success with its count; not even the first block is
  /// kNotFound. A fetch that finds the node's budgets full waits or is refused (kQuotaExceeded,
  /// kBusy), as its options say. When this returns, whatever the outcome, nothing writes into the
  /// memory of the read any more (I1).
  ///
  /// Asio's cancellation of the calling coroutine does what FetchOptions::cancel does; emit its
  /// signal on the coroutine's executor. The fetch still returns, with kCancelled or, where the
  /// commit came first, the blocks; what throws is the caller's next co_await, as always in Asio.
  virtual Task<Result<BlockView>> fetch_blocks(std::shared_ptr<const Layout> layout,
                                               std::shared_ptr<const BlockKeys> keys,
                                               FetchOptions options) = 0;

  /// The same prefix, leased and not read: its lanes are read in parts, each verified and committed
  /// by itself, so that the first layers can be used while the last ones are under way. Takes
  /// encoding, deadline and cancel of the options, for the query. The outcomes of fetch_blocks'
  /// query; kIncompatible: the holder's release cannot do it.
  virtual Task<Result<std::unique_ptr<BlockLease>>> lease_blocks(
      std::shared_ptr<const Layout> layout, std::shared_ptr<const BlockKeys> keys,
      FetchOptions options) = 0;

  /// What the peer says of the object's present generation. kNotFound; kIncompatible: its release
  /// serves no objects, which all calls about objects may say.
  virtual Task<Result<ObjectDescriptor>> lookup_object(std::string key) = 0;

  /// Reads an object, or ranges of it, over all rails, verified and committed. The descriptor is
  /// that of lookup_object(); what is read must be on this peer. kGenerationChanged: it is not the
  /// key's present generation any more, as the read begins or, unless it reads a snapshot, as it
  /// ends. kNotFound: it was deleted. Else as fetch_blocks(), also where it is cancelled: when this
  /// returns, nothing, here or at the peer, writes into the memory of the read any more (I1).
  ///
  /// It lands in memory of the engine's, or in a scatter list of memory that the caller has
  /// registered with the node (ReadObjectOptions::destination). Where that may still be written,
  /// because a device hangs, it does not return, see NodeOptions::on_stuck.
  virtual Task<Result<ObjectView>> read_by_descriptor(ObjectDescriptor object,
                                                      ReadObjectOptions options) = 0;

  /// A page of the peer's keys, in order. As many as were asked for: there may be more, behind the
  /// last one.
  virtual Task<Result<std::vector<ObjectSummary>>> list_objects(ListObjectsRequest page) = 0;

  /// The generation that was deleted. Reads that run under a lease go on; strict ones fail when
  /// they confirm. kNotFound, kGenerationChanged (it is not `if_generation`), kStoreFailed.
  virtual Task<Result<ObjectGeneration>> delete_object(
      std::string key, std::optional<ObjectGeneration> if_generation) = 0;
  /// Begins to put an object into the peer's store, which pulls its stripes from this node's memory
  /// over rails: the peer connects to this node's ports for that. kInvalidArgument, kTooLarge (key,
  /// sizes), kNotFound (the peer keeps no objects), kGenerationChanged (if_generation does not
  /// hold), kQuotaExceeded and kBusy (budgets, here or there), or as a fetch.
  virtual Task<Result<std::unique_ptr<PutStream>>> put_object(std::string key,
                                                              PutOptions options) = 0;

  /// The same for bytes that are there already, committed: `size` of the options is theirs. They
  /// are left alone until this returns.
  virtual Task<Result<ObjectDescriptor>> put_object(std::string key,
                                                    std::span<const std::byte> bytes,
                                                    PutOptions options) = 0;

  virtual const std::string& name() const noexcept = 0;

  /// The rails to this peer, "tcp:127.0.0.1>127.0.0.2", in order.
  virtual std::vector<std::string> rail_names() const = 0;

  /// Ends running reads and puts as failed, closes leases, and lets go of rails and session; the
  /// connection stays where the other node reads over it. Idempotent.
  virtual Task<void> close() = 0;
};

}  // namespace corail
