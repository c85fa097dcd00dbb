#pragma once

#include <memory>
#include <vector>

#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "rpc/connected_peer.h"
#include "rpc/reverse_peers.h"

namespace corail {

/// The peers of a node that are open, and what becomes of each: it is closed when its connection
/// has ended, whoever still shares it. Also makes those that only the other side's puts need.
///
/// Owned by the node, on the home executor; what the context names outlives it. close() must have
/// been awaited before destruction.
class NodePeers final : public ReversePeers {
 public:
  explicit NodePeers(PeerContext context);
  ~NodePeers() override;

  /// One that has been opened.
  void add(std::shared_ptr<ConnectedPeer> peer);

  Task<Result<std::shared_ptr<ConnectedPeer>>> over(std::shared_ptr<Session> session) override;
  void let_go(const Session& session) override;

  /// Closes all, and waits for that. over() fails from when it is called.
  Task<void> close();

 private:
  struct Reverse {
    const Session* session = nullptr;  // that the peer uses, and is compared with only
    std::shared_ptr<ConnectedPeer> peer;
  };

  struct Opening;

  Task<void> open(std::shared_ptr<Session> session, std::shared_ptr<Opening> opening);
  std::shared_ptr<ConnectedPeer> find(const Session& session) const;
  Task<void> look_after(std::shared_ptr<ConnectedPeer> peer);

  const PeerContext context_;
  std::vector<std::shared_ptr<ConnectedPeer>> peers_;
  std::vector<Reverse> reverse_;  // of peers_, those that were made by over()
  bool closing_ = false;
  TaskScope scope_;  // one task for each peer, and for each that is being made
};

}  // namespace corail
