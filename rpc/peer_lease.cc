#include "rpc/peer_lease.h"

#include <asio/cancellation_state.hpp>
#include <asio/this_coro.hpp>
#include <utility>

#include "engine/base/check.h"
#include "engine/exec/run_on.h"
#include "engine/exec/when_all.h"
#include "rpc/slot_cancel.h"

namespace corail {

PeerLease::PeerLease(std::shared_ptr<ConnectedPeer> peer, std::shared_ptr<LeasedBlocks> lease)
    : peer_(std::move(peer)), lease_(std::move(lease)), block_count_(lease_->block_count()) {}

PeerLease::~PeerLease() {
  CORAIL_CHECK(lease_->closed(), "a lease of blocks is closed before it is destroyed");
}

Task<Result<BlockView>> PeerLease::read(LaneRange lanes, FetchOptions options) {
  const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
  const SlotCancel cancel(state.slot(), options.cancel);
  options.cancel = cancel.token();
  // A coroutine chain of its own, as for a fetch.
  auto view = co_await run_on(
      peer_->home(), without_exceptions(peer_->read_lease(lease_, lanes, std::move(options))));
  if (!view) co_return std::move(view).error().on_peer(peer_->name());
  co_return view;
}

Task<void> PeerLease::close() { co_await run_on(peer_->home(), peer_->close_lease(lease_)); }

}  // namespace corail
