#include "rpc/rpc_server.h"

#include <fmt/core.h>

#include <optional>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/log.h"
#include "engine/exec/sleep.h"

namespace corail {
namespace {

/// How long to let the process recover when it has no descriptor left.
constexpr Duration kAcceptPause = std::chrono::milliseconds(100);

}  // namespace

RpcServer::RpcServer(asio::any_io_executor executor, SessionServices services,
                     RpcServerOptions options)
    : executor_(std::move(executor)),
      services_(std::move(services)),
      options_(options),
      scope_(executor_) {}

RpcServer::~RpcServer() {
  CORAIL_CHECK(scope_.running() == 0, "an RPC server was destroyed without an awaited close()");
}

void RpcServer::listen(std::unique_ptr<StreamListener> listener) {
  auto door = std::make_unique<Door>();
  door->listener = std::move(listener);
  door->pause = services_.clock.make_timer(executor_);
  doors_.push_back(std::move(door));
  scope_.spawn(accept_loop(*doors_.back()));
}

Task<void> RpcServer::accept_loop(Door& door) {
  while (!closing_) {
    auto stream = co_await door.listener->accept();
    if (stream.ok()) {
      adopt(std::move(*stream));
      continue;
    }
    if (closing_ || stream.error().code() == Errc::kClosed) break;
    log_limited("accepting failed", LogLevel::kWarning, "{}: accepting failed: {}",
                door.listener->local_address(), stream.error().to_string());
    const TimePoint until = services_.clock.now() + kAcceptPause;
    co_await sleep_until(*door.pause, until);
  }
}

void RpcServer::adopt(std::unique_ptr<ByteStream> stream) {
  const bool refused = sessions_.size() - refusals_ >= options_.max_sessions;
  if (closing_ || (refused && refusals_ >= options_.max_refusals)) {
    log_limited("session cut off", LogLevel::kWarning, "{} was cut off: too many sessions",
                stream->peer_name());
    stream->close();
    return;
  }
  const SessionId id(++last_session_);
  auto session = std::make_unique<SessionServer>(executor_, services_, templates_, id,
                                                 std::move(stream), options_.session);
  sessions_.emplace(id, session.get());
  if (refused) ++refusals_;
  scope_.spawn(run_session(std::move(session), id, refused));
}

Task<void> RpcServer::run_session(std::unique_ptr<SessionServer> session, SessionId id,
                                  bool refused) {
  std::optional<Error> refusal;
  if (refused) {
    refusal.emplace(Errc::kBusy, Stage::kConnect,
                    fmt::format("node '{}' has {} sessions already, which is its limit",
                                services_.identity.name, options_.max_sessions));
  }
  co_await session->run(std::move(refusal));
  sessions_.erase(id);
  if (refused) --refusals_;
}

void RpcServer::regions_changed(TableGeneration generation) {
  for (const auto& [id, session] : sessions_) session->regions_changed(generation);
}

Task<void> RpcServer::close() {
  closing_ = true;
  for (const auto& door : doors_) {
    door->listener->close();
    door->pause->cancel();
  }
  std::vector<SessionId> ids;
  for (const auto& [id, session] : sessions_) ids.push_back(id);
  for (const SessionId id : ids) {
    const auto found = sessions_.find(id);
    if (found != sessions_.end()) found->second->stop();
  }
  co_await scope_.join();
}

}  // namespace corail
