#include "rpc/peer_put.h"

#include <asio/cancellation_state.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <utility>

#include "engine/exec/run_on.h"
#include "engine/exec/when_all.h"

namespace corail {
namespace {

// Coroutine chains of their own, on home: the caller's cancellation is neither changed nor felt in
// the data path.
Task<Result<void>> write_at_home(std::shared_ptr<PutWriter> put, std::span<const std::byte> bytes) {
  auto written = co_await put->write(bytes);
  co_return written;
}

Task<Result<ObjectDescriptor>> commit_at_home(std::shared_ptr<ConnectedPeer> peer,
                                              std::shared_ptr<PutWriter> put) {
  auto committed = co_await put->commit();
  if (put->ended()) peer->forget_put(put);
  co_return committed;
}

Task<void> abort_at_home(std::shared_ptr<ConnectedPeer> peer, std::shared_ptr<PutWriter> put) {
  co_await put->abort();
  peer->forget_put(put);
}

}  // namespace

PeerPut::PeerPut(std::shared_ptr<ConnectedPeer> peer, std::shared_ptr<PutWriter> put)
    : peer_(std::move(peer)), put_(std::move(put)), generation_(put_->generation()) {}

PeerPut::~PeerPut() {
  // A peer that is closed has ended it. Else it has a share of its own until then.
  if (put_->ended()) return;
  asio::post(peer_->home(), [peer = peer_, put = std::move(put_)]() mutable {
    peer->abandon_put(std::move(put));
  });
}

Task<Result<void>> PeerPut::write(std::span<const std::byte> bytes) {
  auto written = co_await run_on(peer_->home(), without_exceptions(write_at_home(put_, bytes)));
  if (!written) co_return std::move(written).error().on_peer(peer_->name());
  co_return written;
}

Task<Result<ObjectDescriptor>> PeerPut::commit() {
  auto committed = co_await run_on(peer_->home(), without_exceptions(commit_at_home(peer_, put_)));
  if (!committed) co_return std::move(committed).error().on_peer(peer_->name());
  co_return committed;
}

Task<void> PeerPut::abort() { co_await run_on(peer_->home(), abort_at_home(peer_, put_)); }

}  // namespace corail
