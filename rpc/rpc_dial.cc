// How a session is dialed, and how two nodes that dial each other come to share one.
#include <algorithm>
#include <utility>

#include "rpc/rpc_server.h"

namespace corail {
namespace {

/// Hellos over one connection (I8). After ALREADY_CONNECTED a further one is needed where the
/// session that was meant has ended in that moment, or somebody here was faster to use it.
constexpr std::uint32_t kMaxHellos = 4;

}  // namespace

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
Task<Result<std::unique_ptr<SessionClient>>> RpcServer::connect(std::unique_ptr<ByteStream> stream,
                                                                TimePoint deadline) {
  const auto dialed = make_session(std::move(stream), Session::Origin::kDialed);
  const auto met = co_await meet(dialed.get(), deadline);
  // Whatever is found is used without a wait between, so that nobody else comes to use it.
  std::shared_ptr<Session> shared;
  if (met.ok()) {
    shared = *met == HelloStep::kDone ? find_winner(*dialed) : find_unused(dialed->remote());
  }
  if (!shared && met.ok() && *met == HelloStep::kDone) {
    sessions_.push_back(dialed);
    scope_.spawn(run_dialed(dialed));
    co_return use(dialed, *dialed);
  }
  std::unique_ptr<SessionClient> client;
  if (shared) client = use(shared, *dialed);
  dialed->give_way();
  co_await dialed->run();
  if (client) co_return std::move(client);
  if (!met.ok()) {
    Error error = met.error();
    co_return std::move(error).at(Stage::kConnect);
  }
  co_return Error(Errc::kConnectionLost, Stage::kConnect,
                  "the session that both nodes share ended while it was taken up; connect again");
}
#pragma GCC diagnostic pop

/// Until the other side is content with this connection, or means one that is there.
Task<Result<HelloStep>> RpcServer::meet(Session* session, TimePoint deadline) {
  for (std::uint32_t hellos = 1;; ++hellos) {
    HelloRequest hello(services_.identity, kFeatures);
    hello.separate = hellos == kMaxHellos;
    auto step = co_await session->meet(std::move(hello), deadline);
    if (!step.ok() || *step == HelloStep::kDone) co_return step;
    if (find_unused(session->remote())) co_return step;
  }
}

std::shared_ptr<Session> RpcServer::find_unused(const NodeIdentity& remote) const {
  const auto found = std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& session) {
    return session->two_way() && same_instance(session->remote(), remote) && !session->used();
  });
  return found == sessions_.end() ? nullptr : *found;
}

std::shared_ptr<Session> RpcServer::find_winner(const Session& dialed) const {
  if (!dialed.two_way() || !precedes(dialed.remote(), services_.identity)) return nullptr;
  const auto found = std::find_if(sessions_.begin(), sessions_.end(), [&](const auto& session) {
    return session->two_way() && same_instance(session->remote(), dialed.remote()) &&
           !session->used() && session->origin() == Session::Origin::kAccepted;
  });
  return found == sessions_.end() ? nullptr : *found;
}

std::unique_ptr<SessionClient> RpcServer::use(std::shared_ptr<Session> session,
                                              const Session& dialed) {
  SessionClient::Way way;
  way.name = dialed.peer_name();
  way.found = session.get() != &dialed;
  return std::make_unique<SessionClient>(executor_, services_.clock, std::move(session),
                                         std::move(way));
}

}  // namespace corail
