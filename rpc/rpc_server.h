#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/byte_stream.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "rpc/session.h"
#include "rpc/session_client.h"
#include "rpc/session_server.h"

namespace corail {

struct RpcServerOptions {
  std::uint32_t max_sessions = 256;  // accepted at once; more are told so
  std::uint32_t max_refusals = 32;   // being told so at once; more are cut off without a word
  SessionOptions session;
};

/// Accepts control connections, dials them, and runs each as a session. Two nodes that connect to
/// each other share one.
///
/// Which of two connections they share, both dialed and neither end knowing of the other's yet,
/// needs no further message. Whoever answers Hello has a session with the caller that the caller
/// does not use: then it says so. Whoever dialed and is let in finds that it has let the other in
/// meanwhile: then the one wins that was dialed by the node with the smaller identity, and the
/// other is given up before anything was opened over it. The holder of the smaller identity keeps
/// what it dialed. Sessions are told apart by the instance at the other end, node id and boot id,
/// so that a node that was started again never meets what it had before.
///
/// Owned by the node, on the home executor; what the services name outlives it. close() must have
/// been awaited before destruction.
class RpcServer final : private SessionKeeper {
 public:
  RpcServer(asio::any_io_executor executor, SessionServices services, RpcServerOptions options);
  ~RpcServer() override;

  /// Accepts from this listener until close(). May be called for several.
  void listen(std::unique_ptr<StreamListener> listener);
  /// Serves one connected stream.
  void adopt(std::unique_ptr<ByteStream> stream);

  /// Says Hello over a stream that this side has dialed. The client is that of a session over it,
  /// or of one that the two nodes share already. Fails as SessionClient::connect does. No call may
  /// be running when close() is called.
  Task<Result<std::unique_ptr<SessionClient>>> connect(std::unique_ptr<ByteStream> stream,
                                                       TimePoint deadline);

  /// How many there are, accepted and dialed.
  std::size_t sessions() const noexcept { return sessions_.size(); }

  /// Tells every requester that the table it knows is old.
  void regions_changed(TableGeneration generation);

  /// Stops accepting, tells the peers, ends all sessions and waits for them. Repeatable, one at a
  /// time. The caller has disabled Asio's cancellation.
  Task<void> close();

 private:
  /// One place to accept at, with the timer for its pauses.
  struct Door {
    std::unique_ptr<StreamListener> listener;
    std::unique_ptr<Timer> pause;
  };

  const SessionServices& services() const noexcept override { return services_; }
  TemplateCache& templates() noexcept override { return templates_; }
  SessionId next_stay() override { return SessionId(++last_stay_); }
  bool shares_unused(const NodeIdentity& caller) const override;

  std::shared_ptr<Session> make_session(std::unique_ptr<ByteStream> stream, Session::Origin origin);
  Task<void> accept_loop(Door& door);
  Task<void> run_accepted(std::shared_ptr<Session> session, SessionId stay, bool refused);
  Task<void> run_dialed(std::shared_ptr<Session> session);

  // rpc_dial.cc
  Task<Result<HelloStep>> meet(Session* session, TimePoint deadline);
  std::shared_ptr<Session> find_unused(const NodeIdentity& remote) const;
  std::shared_ptr<Session> find_winner(const Session& dialed) const;
  std::unique_ptr<SessionClient> use(std::shared_ptr<Session> session, const Session& dialed);

  const asio::any_io_executor executor_;
  const SessionServices services_;
  const RpcServerOptions options_;
  TemplateCache templates_;
  std::vector<std::unique_ptr<Door>> doors_;
  /// Refused ones included; dialed ones from when they are used.
  std::vector<std::shared_ptr<Session>> sessions_;
  std::uint32_t accepted_ = 0;  // of them, and not refused
  std::uint32_t refusals_ = 0;
  std::uint64_t last_stay_ = 0;
  bool closing_ = false;
  TaskScope scope_;
};

}  // namespace corail
