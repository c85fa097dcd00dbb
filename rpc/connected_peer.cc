#include "rpc/connected_peer.h"

#include <utility>

#include "engine/base/check.h"
#include "engine/exec/run_on.h"
#include "rpc/block_fetch.h"

namespace corail {
namespace {

/// Callers that may wait for one peer to close (I8).
constexpr std::size_t kMaxClosers = 64;

}  // namespace

ConnectedPeer::ConnectedPeer(PeerContext context, std::unique_ptr<SessionClient> session)
    : context_(std::move(context)),
      session_(std::move(session)),
      name_(session_->peer_name()),
      idle_(context_.home),
      closing_turn_(context_.home, 1, kMaxClosers) {}

ConnectedPeer::~ConnectedPeer() {
  CORAIL_CHECK(closed_, "a peer is closed before its last share goes");
}

Task<Result<void>> ConnectedPeer::open(TimePoint deadline) {
  auto opened = co_await open_rails(deadline);
  if (opened) co_return ok_result();
  co_await close();
  co_return std::move(opened).error().at(Stage::kConnect).on_peer(name_);
}

Task<Result<void>> ConnectedPeer::open_rails(TimePoint deadline) {
  std::vector<std::string> descriptions;
  for (const auto& port : context_.ports) descriptions.push_back(port->name());
  auto remotes = co_await session_->open_rails(std::move(descriptions), deadline);
  if (!remotes) co_return std::move(remotes).error();
  RailWindow window;
  window.bytes = context_.options.window_bytes;
  window.max_slice_bytes = context_.options.max_read_bytes;
  RailOptions rail_options;
  rail_options.connects = context_.connects;
  auto opened = co_await rails_.open(context_.ports, std::move(*remotes), window,
                                     std::move(rail_options), deadline);
  co_return opened;
}

Task<Result<BlockView>> ConnectedPeer::fetch_blocks(std::shared_ptr<const Layout> layout,
                                                    std::shared_ptr<const BlockKeys> keys,
                                                    FetchOptions options) {
  // A coroutine chain of its own: the caller's cancellation state is neither changed nor felt in
  // the data path.
  auto view = co_await run_on(
      context_.home, fetch_on_home(std::move(layout), std::move(keys), std::move(options)));
  co_return view;
}

Task<Result<BlockView>> ConnectedPeer::fetch_on_home(std::shared_ptr<const Layout> layout,
                                                     std::shared_ptr<const BlockKeys> keys,
                                                     FetchOptions options) {
  if (closing_) {
    co_return Error(Errc::kConnectionLost, Stage::kQuery, "the peer is being closed")
        .on_peer(name_);
  }
  CancelToken token;
  const auto subscription = options.cancel.subscribe([token]() mutable { token.cancel(); });
  options.cancel = token;
  running_.insert(&token);
  const FetchContext fetch_context{context_.home,   context_.clock,   *session_,
                                   context_.memory, context_.options, rails_};
  const ReadId read(next_read_++);
  auto fetch = std::make_unique<BlockFetch>(fetch_context, read, std::move(layout), std::move(keys),
                                            std::move(options));
  auto view = co_await fetch->run();
  fetch.reset();
  running_.erase(&token);
  idle_.notify();
  if (!view) co_return std::move(view).error().on_peer(name_);
  co_return view;
}

Task<void> ConnectedPeer::close() {
  closing_ = true;
  const auto turn = co_await closing_turn_.acquire(1);
  if (!turn) co_return;
  if (!closed_) {
    for (CancelToken* token : running_) token->cancel();
    while (!running_.empty()) co_await idle_.wait();
    co_await rails_.close();
    co_await session_->close();
    closed_ = true;
  }
  closing_turn_.release(1);
}

}  // namespace corail
