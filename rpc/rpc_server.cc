#include "rpc/rpc_server.h"

#include <fmt/core.h>

#include <algorithm>
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

std::shared_ptr<Session> RpcServer::make_session(std::unique_ptr<ByteStream> stream,
                                                 Session::Origin origin) {
  SessionKeeper* const keeper = this;
  return std::make_shared<Session>(executor_, services_.clock, std::move(stream), options_.session,
                                   origin, keeper);
}

void RpcServer::adopt(std::unique_ptr<ByteStream> stream) {
  const bool refused = accepted_ >= options_.max_sessions;
  if (closing_ || (refused && refusals_ >= options_.max_refusals)) {
    log_limited("session cut off", LogLevel::kWarning, "{} was cut off: too many sessions",
                stream->peer_name());
    stream->close();
    return;
  }
  auto session = make_session(std::move(stream), Session::Origin::kAccepted);
  sessions_.push_back(session);
  ++(refused ? refusals_ : accepted_);
  scope_.spawn(run_accepted(std::move(session), next_stay(), refused));
}

Task<void> RpcServer::run_accepted(std::shared_ptr<Session> session, SessionId stay, bool refused) {
  std::optional<Error> refusal;
  if (refused) {
    refusal.emplace(Errc::kBusy, Stage::kConnect,
                    fmt::format("node '{}' has {} sessions already, which is its limit",
                                services_.identity.name, options_.max_sessions));
  }
  co_await session->accept(stay, std::move(refusal));
  std::erase(sessions_, session);
  --(refused ? refusals_ : accepted_);
}

Task<void> RpcServer::run_dialed(std::shared_ptr<Session> session) {
  co_await session->run();
  std::erase(sessions_, session);
}

void RpcServer::regions_changed(TableGeneration generation) {
  for (const auto& session : sessions_) session->regions_changed(generation);
}

bool RpcServer::shares_unused(const NodeIdentity& caller) const {
  return std::any_of(sessions_.begin(), sessions_.end(), [&](const auto& session) {
    return session->two_way() && same_instance(session->remote(), caller) && !session->served();
  });
}

Task<void> RpcServer::close() {
  closing_ = true;
  for (const auto& door : doors_) {
    door->listener->close();
    door->pause->cancel();
  }
  // Stopping one may end it, and take it out.
  const auto sessions = sessions_;
  for (const auto& session : sessions) session->stop();
  co_await scope_.join();
}

}  // namespace corail
