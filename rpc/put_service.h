#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/credits.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/object/object_descriptor.h"
#include "engine/read/cancel_token.h"
#include "engine/read/read_budget.h"
#include "engine/store/object_store.h"
#include "rpc/call_handler.h"
#include "rpc/put_messages.h"
#include "rpc/put_pull.h"
#include "rpc/reverse_peers.h"

namespace corail {

/// What a node takes puts with. Owned by the node, outlives its sessions. Home executor only.
struct PutHome {
  asio::any_io_executor home;
  Clock& clock;
  ObjectStore& store;
  ReversePeers& reverse;
  std::shared_ptr<ReadBudget> budget;  // bytes of stripes that are pulled and not yet written
  Duration pull_time{};                // for one stripe
};

/// The home's side of the puts of one writer: stages what it pulls, and forgets what the writer did
/// not commit.
///
/// Owned by the stay, on the home executor; `session` owns that. end() must have returned before it
/// is destroyed.
class PutService {
 public:
  PutService(PutHome& home, Session& session);
  ~PutService();
  PutService(const PutService&) = delete;
  PutService& operator=(const PutService&) = delete;

  /// One of the four calls of puts.
  Task<Result<FrameBuffer>> serve(InboundCall& call);

  /// Stops what is being pulled. For a stay that ends, before its calls are waited for.
  void stop();
  /// Aborts what is not committed, and lets go of the rails to the writer. Once; no call is served
  /// any more.
  Task<void> end();

 private:
  struct Put;
  class Pulling;

  Task<Result<FrameBuffer>> begin(InboundCall& call);
  Task<Result<FrameBuffer>> put_stripe(InboundCall& call);
  Task<Result<FrameBuffer>> commit(std::span<const std::byte> body);
  Task<Result<FrameBuffer>> abort(std::span<const std::byte> body);

  Result<std::shared_ptr<Put>> find(ObjectGeneration put) const;
  Task<Result<void>> stage(const PutStripeRequest& request, std::shared_ptr<Put> put,
                           CancelToken cancel);
  Task<Result<PulledStripe>> pull(const PutStripeRequest& request, std::uint64_t length,
                                  TimePoint deadline, CancelToken cancel);
  Task<Result<std::shared_ptr<ConnectedPeer>>> reverse();

  PutHome& home_;
  Session& session_;
  std::map<ObjectGeneration, std::shared_ptr<Put>> puts_;  // open ones of this writer
  std::size_t beginning_ = 0;                              // puts that the store is asked to begin
  std::set<ReadId> reads_;                                 // of pulls under way
  Credits pulls_;                                          // stripes at a time
  Credits reverse_turn_;                                   // one opens the rails, others wait
  bool ended_ = false;
};

}  // namespace corail
