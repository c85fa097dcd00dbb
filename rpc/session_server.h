#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/memory/region_registry.h"
#include "engine/store/block_store.h"
#include "rpc/call_handler.h"
#include "rpc/codec.h"
#include "rpc/messages.h"
#include "rpc/object_service.h"
#include "rpc/object_services.h"
#include "rpc/rail_host.h"

namespace corail {

class PutService;
class Session;
struct PutHome;

/// What sessions are served with: parts of the node, all of which outlive the server.
struct SessionServices {
  NodeIdentity identity;
  Clock& clock;
  RegionRegistry& regions;
  RailHost& rails;
  BlockStore* store = nullptr;              // null: this node holds no blocks
  const ObjectServices* objects = nullptr;  // null: no objects
  PutHome* puts = nullptr;                  // null: it takes none
};

/// The holder's side of a session for as long as the other node calls over it: rails, blocks,
/// objects. What it holds, leases and data channels, goes when it ends, however that comes about.
///
/// Owned by the Session, on the home executor. end() must have returned before it is destroyed.
class SessionServer {
 public:
  /// `services` and `templates` outlive it. `id` is its own: whoever stays next has another.
  /// `session` owns it.
  SessionServer(asio::any_io_executor executor, const SessionServices& services,
                TemplateCache& templates, SessionId id, Session& session);
  ~SessionServer();
  SessionServer(const SessionServer&) = delete;
  SessionServer& operator=(const SessionServer&) = delete;

  /// Answers one call of the other node, whose Hello has come. See CallHandler::serve.
  Task<Result<FrameBuffer>> serve(InboundCall& call);

  /// Waits for the calls that are being served, then lets go of rails and leases. Once, and nothing
  /// is served any more from when it is called.
  Task<void> end();

 private:
  /// Counts a call that is being served, however its frame ends.
  class Serving;

  Task<Result<FrameBuffer>> dispatch(InboundCall& call);
  Task<Result<FrameBuffer>> serve_put(InboundCall& call);
  Task<Result<FrameBuffer>> open_rails(std::span<const std::byte> body);
  Task<Result<FrameBuffer>> greet_door(std::span<const std::byte> body);
  Result<FrameBuffer> get_regions(std::span<const std::byte> body);
  Task<Result<FrameBuffer>> query(InboundCall& call);
  Result<FrameBuffer> answer_query(const QueryBlocks& asked);
  Result<FrameBuffer> renew(std::span<const std::byte> body);
  Result<FrameBuffer> lane_sums(std::span<const std::byte> body);
  Task<Result<FrameBuffer>> end_read(InboundCall& call);
  Result<void> end_blocks(Method method, ReadId read);
  Task<Result<FrameBuffer>> serve_objects(InboundCall& call);

  const asio::any_io_executor executor_;
  const SessionServices& services_;
  TemplateCache& templates_;
  const SessionId id_;
  const std::unique_ptr<ObjectService> objects_;  // null: this node holds none
  const std::unique_ptr<PutService> puts_;        // null: this node takes none
  bool rails_open_ = false;                       // or being opened
  bool rails_touched_ = false;                    // whether there is something to drop
  std::uint32_t serving_ = 0;
  Event idle_;
  bool ended_ = false;
};

}  // namespace corail
