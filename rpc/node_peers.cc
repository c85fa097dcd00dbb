#include "rpc/node_peers.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/exec/event.h"
#include "rpc/session.h"
#include "rpc/session_client.h"

namespace corail {
namespace {

Error node_is_closing() { return {Errc::kClosed, Stage::kConnect, "the node is closing"}; }

}  // namespace

/// What becomes of a peer that is being made; shared with whoever waits for it.
struct NodePeers::Opening {
  explicit Opening(const asio::any_io_executor& home) : changed(home) {}

  Result<std::shared_ptr<ConnectedPeer>> outcome;
  bool over = false;
  Event changed;
};

NodePeers::NodePeers(PeerContext context) : context_(std::move(context)), scope_(context_.home) {}

NodePeers::~NodePeers() {
  CORAIL_CHECK(peers_.empty(), "a node's peers are closed before it goes");
}

void NodePeers::add(std::shared_ptr<ConnectedPeer> peer) {
  peers_.push_back(peer);
  scope_.spawn(look_after(std::move(peer)));
}

Task<void> NodePeers::look_after(std::shared_ptr<ConnectedPeer> peer) {
  co_await peer->wait_ended();
  // It is of no use to anybody who looks for one.
  std::erase_if(reverse_, [&peer](const Reverse& reverse) { return reverse.peer == peer; });
  co_await peer->close();
  std::erase(peers_, peer);
}

std::shared_ptr<ConnectedPeer> NodePeers::find(const Session& session) const {
  const auto found = std::find_if(peers_.begin(), peers_.end(),
                                  [&session](const auto& peer) { return peer->uses(session); });
  return found == peers_.end() ? nullptr : *found;
}

Task<Result<std::shared_ptr<ConnectedPeer>>> NodePeers::over(std::shared_ptr<Session> session) {
  if (closing_) co_return node_is_closing();
  if (auto known = find(*session)) co_return known;
  if (!session->two_way()) {
    co_return Error(Errc::kIncompatible, Stage::kConnect,
                    "nothing can be asked of the other side over this session, as its release or "
                    "role has it; its memory cannot be read");
  }
  if (session->used()) {
    co_return Error(Errc::kBusy, Stage::kConnect,
                    "this node is just connecting to the other side, over the same session; try "
                    "again");
  }
  // Not by the caller's own frame: whoever asks is being served over the session, and closing a
  // peer that could not be opened waits for the session's end, which waits for the caller.
  const auto opening = std::make_shared<Opening>(context_.home);
  scope_.spawn(open(std::move(session), opening));
  while (!opening->over) {
    co_await opening->changed.wait();
  }
  co_return opening->outcome;
}

Task<void> NodePeers::open(std::shared_ptr<Session> session, std::shared_ptr<Opening> opening) {
  SessionClient::Way way;
  way.name = session->peer_name();
  auto client =
      std::make_unique<SessionClient>(context_.home, context_.clock, session, std::move(way));
  auto peer = std::make_shared<ConnectedPeer>(context_, std::move(client));
  const TimePoint deadline = context_.clock.now() + context_.options.call_deadline;
  auto opened = co_await peer->try_open(deadline);
  if (opened && closing_) opened = node_is_closing();
  if (opened) {
    Reverse reverse;
    reverse.session = session.get();
    reverse.peer = peer;
    reverse_.push_back(std::move(reverse));
    add(peer);
    opening->outcome = peer;
  } else {
    opening->outcome = opened.error();
  }
  opening->over = true;
  opening->changed.notify();
  if (!opened) co_await peer->close();
}

void NodePeers::let_go(const Session& session) {
  for (const Reverse& reverse : reverse_) {
    if (reverse.session != &session) continue;
    reverse.peer->retire(
        Error(Errc::kConnectionLost, Stage::kClose, "the other side's puts have ended"));
  }
}

Task<void> NodePeers::close() {
  closing_ = true;
  // Each takes itself out when it is closed.
  const auto peers = peers_;
  for (const auto& peer : peers) {
    co_await peer->close();
  }
  co_await scope_.join();
}

}  // namespace corail
