#pragma once

#include <asio/any_io_executor.hpp>
#include <memory>
#include <optional>
#include <span>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/byte_stream.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "engine/memory/region_registry.h"
#include "engine/store/block_store.h"
#include "rpc/call_handler.h"
#include "rpc/codec.h"
#include "rpc/connection.h"
#include "rpc/messages.h"
#include "rpc/rail_host.h"

namespace corail {

/// What sessions are served with: parts of the node, all of which outlive the server.
struct SessionServices {
  NodeIdentity identity;
  Clock& clock;
  RegionRegistry& regions;
  RailHost& rails;
  BlockStore* store = nullptr;  // null: this node holds no blocks
};

struct SessionOptions {
  ConnectionOptions connection;
  Duration hello_time = std::chrono::seconds(10);  // from the preface to the end of Hello
};

/// The holder's side of one accepted connection: Hello, rails, blocks. What the session holds,
/// leases and data channels, goes when it ends, however that comes about.
///
/// Owned by the RpcServer, on the home executor. run() is its whole life and must have returned
/// before it is destroyed.
class SessionServer final : private CallHandler {
 public:
  /// `services` and `templates` outlive the session.
  SessionServer(asio::any_io_executor executor, const SessionServices& services,
                TemplateCache& templates, SessionId id, std::unique_ptr<ByteStream> stream,
                SessionOptions options);

  /// Serves until either side ends the connection; then releases everything the session holds. With
  /// a refusal the peer is told why instead of being served.
  Task<void> run(std::optional<Error> refusal);

  /// Makes run() return soon; the peer is told that the node is closing.
  void stop();

  /// Tells the peer that the table it knows is old. Best effort: queries find out by themselves.
  void regions_changed(TableGeneration generation);

 private:
  Task<Result<FrameBuffer>> serve(InboundCall& call) override;
  Result<void> on_notify(Method method, std::span<const std::byte> body) override;

  Task<void> watch_hello();
  Task<void> clean_up();
  Result<FrameBuffer> hello(std::span<const std::byte> body);
  Task<Result<FrameBuffer>> open_rails(std::span<const std::byte> body);
  Task<Result<FrameBuffer>> greet_door(std::span<const std::byte> body);
  Result<FrameBuffer> get_regions(std::span<const std::byte> body);
  Result<FrameBuffer> query(std::span<const std::byte> body);
  Result<FrameBuffer> renew(std::span<const std::byte> body);
  Result<FrameBuffer> end_read(Method method, std::span<const std::byte> body);

  const asio::any_io_executor executor_;
  const SessionServices& services_;
  TemplateCache& templates_;
  const SessionId id_;
  const SessionOptions options_;
  Connection connection_;
  std::unique_ptr<Timer> hello_timer_;
  TaskScope scope_;
  bool greeted_ = false;
  bool rails_open_ = false;     // or being opened
  bool rails_touched_ = false;  // whether there is something to drop
};

}  // namespace corail
