#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/byte_stream.h"
#include "engine/exec/task.h"
#include "rpc/connected_peer.h"
#include "rpc/messages.h"
#include "rpc/rpc_server.h"

namespace corail {

/// Makes peers of addresses: a stream, a session, rails.
///
/// Owned by the node, on the home executor; what it is given outlives it, and it outlives its
/// connect()s.
class PeerConnector {
 public:
  /// Connects a stream to an address, before a deadline.
  using Dial = std::function<Task<Result<std::unique_ptr<ByteStream>>>(std::string, TimePoint)>;

  /// Without a server the node serves nothing, and shares no session with those it connects to.
  PeerConnector(PeerContext context, NodeIdentity identity, RpcServer* server, Dial dial);

  /// Fails as Node::connect() does; nothing is left open then.
  Task<Result<std::shared_ptr<ConnectedPeer>>> connect(std::string address);

  /// Makes those under way fail with kClosed, at the latest after the call deadline.
  void stop() noexcept { stopped_ = true; }

 private:
  Task<Result<std::unique_ptr<SessionClient>>> connect_session(std::string address,
                                                               TimePoint deadline);

  const PeerContext context_;
  const NodeIdentity identity_;
  RpcServer* const server_;
  const Dial dial_;
  bool stopped_ = false;
};

}  // namespace corail
