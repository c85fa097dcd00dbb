#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/region_table.h"
#include "engine/base/result.h"
#include "engine/exec/byte_stream.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "engine/read/owner.h"
#include "rpc/call_handler.h"
#include "rpc/codec.h"
#include "rpc/connection.h"
#include "rpc/messages.h"

namespace corail {

struct ClientOptions {
  NodeIdentity identity;  // of this node
  ConnectionOptions connection;
};

/// What to ask a holder for.
struct TransferQuery {
  ReadId read;
  std::shared_ptr<const BlockKeys> keys;
  std::shared_ptr<const Layout> layout;             // the requester's own
  Duration ttl{};                                   // 0: the holder's default
  AnswerEncoding encoding = AnswerEncoding::kRuns;  // others only where the holder knows them
};

/// The requester's side of a control connection: typed calls, answers checked. Also the Owner of
/// the reads it has queried.
///
/// Owned by the peer, on the home executor. close() must have been awaited before destruction; no
/// call may be running then. Every call fails with the reason why the connection ended once it has.
class SessionClient final : public Owner, private CallHandler {
 public:
  /// Says Hello over a connected stream. `clock` outlives the session. Fails with kIncompatible
  /// (with the reason, also for a foreign protocol), kDeadline, kConnectionLost, or the peer's no.
  static Task<Result<std::unique_ptr<SessionClient>>> connect(asio::any_io_executor executor,
                                                              Clock& clock,
                                                              std::unique_ptr<ByteStream> stream,
                                                              ClientOptions options,
                                                              TimePoint deadline);

  /// Who answered Hello.
  const NodeIdentity& holder() const noexcept { return holder_; }
  const std::string& peer_name() const noexcept { return connection_.peer_name(); }

  /// Where to connect rails to, once per session; also fetches the region table. `descriptions`:
  /// one per rail of this node.
  Task<Result<std::vector<RailEndpoint>>> open_rails(std::vector<std::string> descriptions,
                                                     TimePoint deadline);

  /// What a rail says to the door that it connects to, and the door's answer: see RailGreeter.
  Task<Result<std::string>> greet_door(std::uint32_t door, std::string words, TimePoint deadline);

  /// The newest table known; empty before open_rails().
  std::shared_ptr<const RegionTable> regions() const noexcept { return regions_; }

  /// The longest prefix the holder has, leased; may be no block at all. The table in the answer is
  /// at least as new as its addresses: an old one is fetched again, once. Fails with
  /// kInvalidArgument or kTooLarge (the keys; nothing was sent then), kLayoutMismatch, kProtocol
  /// (an answer that breaks the rules), or what the holder or the connection says. A failure may
  /// leave a lease at the holder: release() it as after a success.
  Task<Result<TransferAnswer>> query(TransferQuery query, CallOptions options);

  /// Asks for `ttl` more; how long the lease lasts, counted from when this was called.
  /// kLeaseExpired and kNotFound are the holder's no; after kDeadline or a transport error nobody
  /// knows, so nothing was extended.
  Task<Result<Duration>> renew(ReadId read, Duration ttl, CallOptions options);

  Task<Result<void>> confirm_and_release(ReadId read, TimePoint deadline) override;
  Task<Result<void>> quiesce(ReadId read, TimePoint deadline) override;
  Task<Result<void>> release(ReadId read, TimePoint deadline) override;

  /// Returns when the connection has ended, with the reason. One waiter.
  Task<Error> wait_ended();

  /// Ends running calls and waits for everything of the session. Repeatable, one at a time.
  Task<void> close();

 private:
  SessionClient(asio::any_io_executor executor, Clock& clock, std::unique_ptr<ByteStream> stream,
                ClientOptions options);

  Task<Result<FrameBuffer>> serve(InboundCall& call) override;
  Result<void> on_notify(Method method, std::span<const std::byte> body) override;

  Task<Result<void>> greet(TimePoint deadline);
  Task<Result<void>> fetch_regions(CallOptions options);
  Task<void> fetch_regions_unasked();
  Task<Result<void>> end_read(Method method, ReadId read, TimePoint deadline);
  void take_regions(RegionTable table);

  const asio::any_io_executor executor_;
  Clock& clock_;
  const NodeIdentity identity_;
  NodeIdentity holder_;
  std::uint64_t features_ = 0;  // in use on this connection
  std::shared_ptr<const RegionTable> regions_ = std::make_shared<const RegionTable>();
  bool fetching_unasked_ = false;
  Connection connection_;
  TaskScope scope_;
};

}  // namespace corail
