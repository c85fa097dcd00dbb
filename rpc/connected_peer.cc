#include "rpc/connected_peer.h"

#include <asio/cancellation_state.hpp>
#include <asio/this_coro.hpp>
#include <limits>
#include <utility>

#include "engine/base/check.h"
#include "engine/exec/run_on.h"
#include "engine/exec/when_all.h"
#include "rpc/block_fetch.h"
#include "rpc/peer_lease.h"
#include "rpc/put_writer.h"
#include "rpc/running_fetch.h"
#include "rpc/slot_cancel.h"

namespace corail {
namespace {

/// Whoever closes a peer waits until it is closed: none of them can be refused, so their own frames
/// are the bound (I8).
constexpr std::size_t kMaxClosers = std::numeric_limits<std::size_t>::max();

}  // namespace

ConnectedPeer::ConnectedPeer(PeerContext context, std::unique_ptr<SessionClient> session)
    : context_(std::move(context)),
      session_(std::move(session)),
      name_(session_->peer_name()),
      budget_(make_peer_budget(context_.home, context_.clock, context_.options, name_)),
      idle_(context_.home),
      end_event_(context_.home),
      closing_turn_(context_.home, 1, kMaxClosers),
      scope_(context_.home) {}

ConnectedPeer::~ConnectedPeer() {
  CORAIL_CHECK(closed_, "a peer is closed before its last share goes");
}

Task<Result<void>> ConnectedPeer::open(TimePoint deadline) {
  auto opened = co_await try_open(deadline);
  if (!opened) co_await close();
  co_return opened;
}

Task<Result<void>> ConnectedPeer::try_open(TimePoint deadline) {
  auto opened = co_await open_rails(deadline);
  if (!opened) co_return std::move(opened).error().at(Stage::kConnect).on_peer(name_);
  scope_.spawn(watch_session());
  co_return ok_result();
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
  rail_options.fence_deadline = context_.options.fence_deadline;
  auto opened = co_await rails_.open(context_.ports, std::move(*remotes), window,
                                     std::move(rail_options), deadline);
  co_return opened;
}

Task<Result<BlockView>> ConnectedPeer::fetch_blocks(std::shared_ptr<const Layout> layout,
                                                    std::shared_ptr<const BlockKeys> keys,
                                                    FetchOptions options) {
  const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
  const SlotCancel cancel(state.slot(), options.cancel);
  options.cancel = cancel.token();
  // A coroutine chain of its own: the caller's cancellation state is neither changed nor felt in
  // the data path.
  auto view = co_await run_on(
      context_.home,
      without_exceptions(fetch_on_home(std::move(layout), std::move(keys), std::move(options))));
  if (!view) co_return std::move(view).error().on_peer(name_);
  co_return view;
}

Task<Result<BlockView>> ConnectedPeer::fetch_on_home(std::shared_ptr<const Layout> layout,
                                                     std::shared_ptr<const BlockKeys> keys,
                                                     FetchOptions options) {
  if (ended_) co_return *ended_;
  RunningFetch running(*this, options.cancel);
  options.cancel = running.token();
  const ReadId read(next_read_++);
  auto fetch = std::make_unique<BlockFetch>(fetch_context(), read, std::move(layout),
                                            std::move(keys), std::move(options));
  auto view = co_await fetch->run();
  fetch.reset();
  if (!view) co_return running.outcome(std::move(view).error());
  co_return view;
}

FetchContext ConnectedPeer::fetch_context() {
  const FetchBudgets budgets{budget_, context_.node_budget};
  return FetchContext{context_.home,   context_.clock,   *session_,
                      context_.memory, context_.mapping, context_.options,
                      rails_,          budgets,          context_.landings};
}

Task<Result<std::unique_ptr<BlockLease>>> ConnectedPeer::lease_blocks(
    std::shared_ptr<const Layout> layout, std::shared_ptr<const BlockKeys> keys,
    FetchOptions options) {
  const asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
  const SlotCancel cancel(state.slot(), options.cancel);
  options.cancel = cancel.token();
  auto lease = co_await run_on(
      context_.home,
      without_exceptions(lease_on_home(std::move(layout), std::move(keys), std::move(options))));
  if (!lease) co_return std::move(lease).error().on_peer(name_);
  std::unique_ptr<BlockLease> handle =
      std::make_unique<PeerLease>(shared_from_this(), std::move(*lease));
  co_return std::move(handle);
}

Task<Result<std::shared_ptr<LeasedBlocks>>> ConnectedPeer::lease_on_home(
    std::shared_ptr<const Layout> layout, std::shared_ptr<const BlockKeys> keys,
    FetchOptions options) {
  if (ended_) co_return *ended_;
  RunningFetch running(*this, options.cancel);
  options.cancel = running.token();
  const ReadId read(next_read_++);
  auto lease =
      std::make_shared<LeasedBlocks>(fetch_context(), read, std::move(layout), std::move(keys));
  auto opened = co_await lease->open(std::move(options));
  if (!opened) co_return running.outcome(std::move(opened).error());
  leases_.insert(lease);
  co_return std::move(lease);
}

Task<Result<BlockView>> ConnectedPeer::read_lease(std::shared_ptr<LeasedBlocks> lease,
                                                  LaneRange lanes, FetchOptions options) {
  if (ended_) co_return *ended_;
  RunningFetch running(*this, options.cancel);
  options.cancel = running.token();
  auto view = co_await lease->read(lanes, std::move(options));
  if (!view) co_return running.outcome(std::move(view).error());
  co_return view;
}

Task<void> ConnectedPeer::close_lease(std::shared_ptr<LeasedBlocks> lease) {
  const bool connected = !ended_;
  co_await lease->close(connected);
  leases_.erase(lease);
}

Task<Result<PulledStripe>> ConnectedPeer::pull_stripe(const PutStripeRequest& request,
                                                      std::uint64_t length, TimePoint deadline,
                                                      CancelToken cancel) {
  if (ended_) co_return *ended_;
  RunningFetch running(*this, std::move(cancel));
  auto pull =
      std::make_unique<PutPull>(fetch_context(), request, length, deadline, running.token());
  auto pulled = co_await without_exceptions(pull->run());
  pull.reset();
  if (!pulled) co_return running.outcome(std::move(pulled).error());
  co_return pulled;
}

Task<void> ConnectedPeer::watch_session() {
  // Nobody would confirm a read without the session, so waiting for its deadline is of no use.
  const Error why = co_await session_->wait_ended();
  end(why);
}

void ConnectedPeer::end(Error why) {
  if (!ended_) ended_ = std::move(why);
  for (RunningFetch* const fetch : running_) fetch->stop(*ended_);
  end_event_.notify();
}

bool ConnectedPeer::uses(const Session& session) const {
  return !ended_ && session_ && session_->session().get() == &session;
}

Task<void> ConnectedPeer::wait_ended() {
  while (!ended_) {
    co_await end_event_.wait();
  }
}

Task<void> ConnectedPeer::close() {
  end(Error(Errc::kConnectionLost, Stage::kClose, "this side has closed the peer").on_peer(name_));
  const auto turn = co_await closing_turn_.acquire(1);
  CORAIL_CHECK(turn, "the turn to close is never refused");
  if (!closed_) {
    while (!running_.empty()) {
      co_await idle_.wait();
    }
    while (!leases_.empty()) {
      const auto lease = *leases_.begin();
      // The holder gives back what a session has when it ends.
      co_await lease->close(false);
      leases_.erase(lease);
    }
    co_await close_puts();
    co_await rails_.close();
    co_await session_->close();
    co_await scope_.join();
    // Whoever still shares the peer may let go of it on any thread; the session may not go there.
    session_.reset();
    closed_ = true;
  }
  closing_turn_.release(1);
}

}  // namespace corail
