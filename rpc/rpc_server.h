#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/base/ids.h"
#include "engine/exec/byte_stream.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "rpc/session_server.h"

namespace corail {

struct RpcServerOptions {
  std::uint32_t max_sessions = 256;  // at once; more are told so
  std::uint32_t max_refusals = 32;   // being told so at once; more are cut off without a word
  SessionOptions session;
};

/// Accepts control connections and serves each as a session.
///
/// Owned by the node, on the home executor; what the services name outlives it. close() must have
/// been awaited before destruction.
class RpcServer {
 public:
  RpcServer(asio::any_io_executor executor, SessionServices services, RpcServerOptions options);
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  /// Accepts from this listener until close(). May be called for several.
  void listen(std::unique_ptr<StreamListener> listener);
  /// Serves one connected stream.
  void adopt(std::unique_ptr<ByteStream> stream);

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

  Task<void> accept_loop(Door& door);
  Task<void> run_session(std::unique_ptr<SessionServer> session, SessionId id, bool refused);

  const asio::any_io_executor executor_;
  const SessionServices services_;
  const RpcServerOptions options_;
  TemplateCache templates_;
  std::vector<std::unique_ptr<Door>> doors_;
  std::unordered_map<SessionId, SessionServer*> sessions_;  // refused ones included
  std::uint32_t refusals_ = 0;
  std::uint64_t last_session_ = 0;
  bool closing_ = false;
  TaskScope scope_;
};

}  // namespace corail
