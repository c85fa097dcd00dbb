#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/error.h"
#include "engine/exec/credits.h"
#include "engine/exec/event.h"
#include "engine/exec/task_scope.h"
#include "engine/memory/slab_pool.h"
#include "engine/rail/connect_limit.h"
#include "engine/rail/port.h"
#include "engine/rail/rail_set.h"
#include "engine/read/cancel_token.h"
#include "rpc/fetch_admission.h"
#include "rpc/fetch_context.h"
#include "rpc/leased_blocks.h"
#include "rpc/options.h"
#include "rpc/peer.h"
#include "rpc/session_client.h"

namespace corail {

/// What every peer of a node shares. The node outlives its peers' close().
struct PeerContext {
  asio::any_io_executor home;
  Clock& clock;
  const NodeOptions& options;
  SlabPool& memory;
  asio::any_io_executor mapping;  // makes the pool's slabs, which may take seconds
  std::span<const std::unique_ptr<Port>> ports;
  std::shared_ptr<ConnectLimit> connects;
  std::shared_ptr<ReadBudget> node_budget = nullptr;  // null: no bound
};

/// The Peer behind the public face: a session, a rail set, and the fetches that run over them.
///
/// Shared by the node and its users; home executor only; made by std::make_shared. When the session
/// ends, or close() is called, every running fetch is stopped with that reason. close() waits for
/// them, then lets go of leases, rails and session. It must have been awaited before the last share
/// goes; the node does so for every peer.
class ConnectedPeer final : public Peer, public std::enable_shared_from_this<ConnectedPeer> {
 public:
  ConnectedPeer(PeerContext context, std::unique_ptr<SessionClient> session);
  ~ConnectedPeer() override;

  /// Opens the rails. On a failure the peer is closed already.
  Task<Result<void>> open(TimePoint deadline);

  /// After open(): returns when the peer is of no more use, because its connection has ended or
  /// somebody closed it. One waiter.
  Task<void> wait_ended();

  Task<Result<BlockView>> fetch_blocks(std::shared_ptr<const Layout> layout,
                                       std::shared_ptr<const BlockKeys> keys,
                                       FetchOptions options) override;
  Task<Result<std::unique_ptr<BlockLease>>> lease_blocks(std::shared_ptr<const Layout> layout,
                                                         std::shared_ptr<const BlockKeys> keys,
                                                         FetchOptions options) override;
  Task<Result<ObjectDescriptor>> lookup_object(std::string key) override;
  Task<Result<ObjectView>> read_by_descriptor(ObjectDescriptor object,
                                              ReadObjectOptions options) override;
  Task<Result<std::vector<ObjectSummary>>> list_objects(ListObjectsRequest page) override;
  Task<Result<ObjectGeneration>> delete_object(
      std::string key, std::optional<ObjectGeneration> if_generation) override;
  const std::string& name() const noexcept override { return name_; }
  std::vector<std::string> rail_names() const override { return rails_.names(); }
  Task<void> close() override;

  // For PeerLease, which shares the peer. On home.
  const asio::any_io_executor& home() const noexcept { return context_.home; }
  Task<Result<BlockView>> read_lease(std::shared_ptr<LeasedBlocks> lease, LaneRange lanes,
                                     FetchOptions options);
  Task<void> close_lease(std::shared_ptr<LeasedBlocks> lease);

 private:
  class RunningFetch;

  Task<Result<void>> open_rails(TimePoint deadline);
  Task<Result<BlockView>> fetch_on_home(std::shared_ptr<const Layout> layout,
                                        std::shared_ptr<const BlockKeys> keys,
                                        FetchOptions options);
  Task<Result<std::shared_ptr<LeasedBlocks>>> lease_on_home(std::shared_ptr<const Layout> layout,
                                                            std::shared_ptr<const BlockKeys> keys,
                                                            FetchOptions options);
  // connected_peer_objects.cc
  Task<Result<ObjectDescriptor>> lookup_on_home(std::string key);
  Task<Result<ObjectView>> read_object_on_home(std::shared_ptr<const ObjectDescriptor> object,
                                               ReadObjectOptions options);
  Task<Result<std::vector<ObjectSummary>>> list_on_home(ListObjectsRequest page);
  Task<Result<ObjectGeneration>> delete_on_home(DeleteObjectRequest request);
  TimePoint call_deadline() const;

  FetchContext fetch_context();
  Task<void> watch_session();
  void end(Error why);

  const PeerContext context_;
  std::unique_ptr<SessionClient> session_;  // until close() has let go of it
  const std::string name_;
  const std::shared_ptr<ReadBudget> budget_;
  RailSet rails_;
  std::uint64_t next_read_ = 1;
  std::set<RunningFetch*> running_;                 // each in its own frame
  std::set<std::shared_ptr<LeasedBlocks>> leases_;  // that are not closed
  Event idle_;
  Event end_event_;
  std::optional<Error> ended_;  // why no fetch has a chance any more
  Credits closing_turn_;        // one closes, others wait for it
  bool closed_ = false;
  TaskScope scope_;  // the watch over the session
};

}  // namespace corail
