#pragma once

#include <memory>

#include "engine/base/result.h"
#include "engine/exec/task.h"

namespace corail {

class ConnectedPeer;
class Session;

/// The other direction of sessions: what one node needs that is asked over a session, and has to
/// read from whoever asked. Implemented by the node. Home executor only; outlives every session.
class ReversePeers {
 public:
  virtual ~ReversePeers() = default;

  /// The peer that calls over this session from this side: the one that this node has connected,
  /// where the two share the session, or else a new one with rails of its own, which lives until
  /// the session ends or let_go() is called. One call at a time for each session. Fails with
  /// kIncompatible (the other side serves nothing over it), kBusy (somebody here is just taking it
  /// up), kClosed, or as ConnectedPeer::open.
  virtual Task<Result<std::shared_ptr<ConnectedPeer>>> over(std::shared_ptr<Session> session) = 0;

  /// Nobody needs the peer that was made for this session: it is closed, by and by. Without one
  /// nothing happens.
  virtual void let_go(const Session& session) = 0;
};

}  // namespace corail
