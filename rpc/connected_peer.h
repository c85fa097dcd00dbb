#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
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
#include "engine/memory/landing_registry.h"
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
#include "rpc/put_context.h"
#include "rpc/put_pull.h"
#include "rpc/session_client.h"

namespace corail {

class ObjectClient;

class PutWriter;

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
  PutParts* puts = nullptr;                           // null: it writes no objects
  const LandingRegistry* landings = nullptr;          // null: no caller registers memory
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
  /// The same, and on a failure the caller closes it: for one who must not wait for the end of the
  /// session, because that waits for him.
  Task<Result<void>> try_open(TimePoint deadline);

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
  Task<Result<std::unique_ptr<PutStream>>> put_object(std::string key, PutOptions options) override;
  Task<Result<ObjectDescriptor>> put_object(std::string key, std::span<const std::byte> bytes,
                                            PutOptions options) override;
  const std::string& name() const noexcept override { return name_; }
  std::vector<std::string> rail_names() const override { return rails_.names(); }
  Task<void> close() override;

  // For PeerLease, which shares the peer. On home.
  const asio::any_io_executor& home() const noexcept { return context_.home; }
  Task<Result<BlockView>> read_lease(std::shared_ptr<LeasedBlocks> lease, LaneRange lanes,
                                     FetchOptions options);
  Task<void> close_lease(std::shared_ptr<LeasedBlocks> lease);

  // For PeerPut, likewise.
  void forget_put(const std::shared_ptr<PutWriter>& put);
  /// Nobody will end it: it is aborted.
  void abandon_put(std::shared_ptr<PutWriter> put);

  // For those who read what the other node puts. On home.
  /// Whether this is the peer that uses the session, and has not ended.
  bool uses(const Session& session) const;
  /// Reads a stripe of a put from the other node's memory, as PutPull does.
  Task<Result<PulledStripe>> pull_stripe(const PutStripeRequest& request, std::uint64_t length,
                                         TimePoint deadline, CancelToken cancel);
  /// Stops what runs, and makes wait_ended() return. The first reason counts.
  void retire(Error why) { end(std::move(why)); }

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
  template <typename T, typename Request>
  using ObjectCall = Task<Result<T>> (ObjectClient::*)(Request, CallOptions);
  /// One call about objects that moves none of their bytes.
  template <typename T, typename Request>
  Task<Result<T>> ask_object(ObjectCall<T, Request> call, Request request);
  template <typename T, typename Request>
  Task<Result<T>> ask_object_on_home(ObjectCall<T, Request> call, Request request);
  Task<Result<ObjectView>> read_object_on_home(std::shared_ptr<const ObjectDescriptor> object,
                                               ReadObjectOptions options);
  // connected_peer_puts.cc
  Task<Result<std::shared_ptr<PutWriter>>> begin_put(std::string key, PutOptions options,
                                                     CancelToken while_it_begins);
  Task<void> abort_put(std::shared_ptr<PutWriter> put);
  Task<void> close_puts();

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
  std::set<std::shared_ptr<PutWriter>> puts_;       // that have not ended
  Event idle_;
  Event end_event_;
  std::optional<Error> ended_;  // why no fetch has a chance any more
  Credits closing_turn_;        // one closes, others wait for it
  bool closed_ = false;
  TaskScope scope_;  // the watch over the session, and puts that nobody will end
};

}  // namespace corail
