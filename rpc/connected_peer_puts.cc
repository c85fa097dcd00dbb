// A peer's part in puts: those that it writes to the other node, and the stripes that it pulls for
// those of the other node.
#include <asio/cancellation_state.hpp>
#include <asio/this_coro.hpp>
#include <utility>

#include "engine/exec/run_on.h"
#include "engine/exec/when_all.h"
#include "rpc/connected_peer.h"
#include "rpc/peer_put.h"
#include "rpc/put_writer.h"
#include "rpc/slot_cancel.h"

namespace corail {

Task<Result<std::unique_ptr<PutStream>>> ConnectedPeer::put_object(std::string key,
                                                                   PutOptions options) {
  const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
  const SlotCancel cancel(state.slot(), options.cancel);
  auto put = co_await run_on(
      context_.home,
      without_exceptions(begin_put(std::move(key), std::move(options), cancel.token())));
  if (!put) co_return std::move(put).error().on_peer(name_);
  std::unique_ptr<PutStream> handle =
      std::make_unique<PeerPut>(shared_from_this(), std::move(*put));
  co_return std::move(handle);
}

Task<Result<std::shared_ptr<PutWriter>>> ConnectedPeer::begin_put(std::string key,
                                                                  PutOptions options,
                                                                  CancelToken while_it_begins) {
  if (ended_) co_return *ended_;
  if (context_.puts == nullptr) {
    co_return Error(Errc::kIncompatible, Stage::kSubmit, "this node writes no objects");
  }
  const PutContext context{context_.home,    context_.clock,   *session_,
                           context_.mapping, context_.options, *context_.puts};
  auto put = std::make_shared<PutWriter>(context, std::move(key), std::move(options));
  puts_.insert(put);
  auto begun = co_await put->begin(std::move(while_it_begins));
  if (!begun) forget_put(put);
  if (!begun) co_return ended_ ? *ended_ : std::move(begun).error();
  co_return std::move(put);
}

Task<Result<ObjectDescriptor>> ConnectedPeer::put_object(std::string key,
                                                         std::span<const std::byte> bytes,
                                                         PutOptions options) {
  options.size = bytes.size();
  auto put = co_await put_object(std::move(key), std::move(options));
  if (!put) co_return std::move(put).error();
  auto written = co_await (*put)->write(bytes);
  if (!written) {
    co_await (*put)->abort();
    co_return std::move(written).error();
  }
  auto committed = co_await (*put)->commit();
  co_return committed;
}

void ConnectedPeer::forget_put(const std::shared_ptr<PutWriter>& put) {
  puts_.erase(put);
  idle_.notify();
}

void ConnectedPeer::abandon_put(std::shared_ptr<PutWriter> put) {
  // Once the peer is closed there is none, and nobody to wait for it.
  if (puts_.count(put) > 0) scope_.spawn(abort_put(std::move(put)));
}

Task<void> ConnectedPeer::abort_put(std::shared_ptr<PutWriter> put) {
  co_await put->abort();
  forget_put(put);
}

Task<void> ConnectedPeer::close_puts() {
  for (const auto& put : puts_) put->fail(*ended_);
  while (!puts_.empty()) {
    const auto put = *puts_.begin();
    co_await put->close(*ended_);
    puts_.erase(put);
  }
}

}  // namespace corail
