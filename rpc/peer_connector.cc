#include "rpc/peer_connector.h"

#include <cstdint>
#include <utility>

#include "rpc/session_client.h"

namespace corail {
namespace {

/// How often one connect() may find a session of the other node's that ends before rails are opened
/// over it (I8).
constexpr std::uint32_t kMaxTries = 4;

Error stopped() { return {Errc::kClosed, Stage::kConnect, "the node is not running"}; }

}  // namespace

PeerConnector::PeerConnector(PeerContext context, NodeIdentity identity, RpcServer* server,
                             Dial dial)
    : context_(std::move(context)),
      identity_(std::move(identity)),
      server_(server),
      dial_(std::move(dial)) {}

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
Task<Result<std::shared_ptr<ConnectedPeer>>> PeerConnector::connect(std::string address) {
  const TimePoint deadline = context_.clock.now() + context_.options.call_deadline;
  for (std::uint32_t tries = 1;; ++tries) {
    auto session = co_await connect_session(address, deadline);
    if (!session) co_return std::move(session).error().at(Stage::kConnect).on_peer(address);
    if (stopped_) {
      co_await (*session)->close();
      co_return stopped();
    }
    const bool found = (*session)->found();
    auto peer = std::make_shared<ConnectedPeer>(context_, std::move(*session));
    const auto opened = co_await peer->open(deadline);
    if (opened && !stopped_) co_return std::move(peer);
    if (opened) {
      co_await peer->close();
      co_return stopped();
    }
    const bool again = found && tries < kMaxTries && opened.error().code() == Errc::kConnectionLost;
    if (!again) co_return opened.error();
    if (stopped_) co_return stopped();
  }
}

Task<Result<std::unique_ptr<SessionClient>>> PeerConnector::connect_session(std::string address,
                                                                            TimePoint deadline) {
  auto stream = co_await dial_(std::move(address), deadline);
  if (!stream) co_return std::move(stream).error();
  if (stopped_) co_return stopped();
  if (server_ != nullptr) {
    auto shared = co_await server_->connect(std::move(*stream), deadline);
    co_return shared;
  }
  ClientOptions client;
  client.identity = identity_;
  client.connection.keep_alive = context_.options.keep_alive;
  auto session = co_await SessionClient::connect(context_.home, context_.clock, std::move(*stream),
                                                 std::move(client), deadline);
  co_return session;
}
#pragma GCC diagnostic pop

}  // namespace corail
