// Fetches through a peer, up to where rails would be needed.
#include "rpc/connected_peer.h"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "test/rpc/session_support.h"

namespace corail::test {
namespace {

Task<bool> close_peer(std::shared_ptr<ConnectedPeer> peer) {
  co_await peer->close();
  co_return true;
}

Task<bool> close_lease(BlockLease* lease) {
  co_await lease->close();
  co_return true;
}

/// A peer without rails: what is found is leased, and then nothing can be planned for it.
struct PeerWorld {
  PeerWorld() {
    auto session = holder.try_connect();
    BOOST_REQUIRE(session.ok());
    const auto home = holder.world.executor();
    const PeerContext context{
        home, holder.world.clock(), options, memory, home, {}, std::make_shared<ConnectLimit>()};
    peer = std::make_shared<ConnectedPeer>(context, std::move(*session));
  }
  ~PeerWorld() { holder.world.run(close_peer(peer)); }

  VirtualWorld::Outcome<Result<BlockView>> start(BlockKeys keys, CancelToken cancel) {
    FetchOptions fetch;
    fetch.cancel = std::move(cancel);
    return holder.world.start(peer->fetch_blocks(
        holder.layout, std::make_shared<const BlockKeys>(std::move(keys)), fetch));
  }
  Error fetch(BlockKeys keys) {
    const auto outcome = start(std::move(keys), CancelToken());
    while (!outcome->has_value()) BOOST_REQUIRE(holder.world.step());
    return (*outcome)->ok() ? Error() : (*outcome)->error();
  }

  Result<std::unique_ptr<BlockLease>> lease(BlockKeys keys) {
    return holder.world.run(peer->lease_blocks(
        holder.layout, std::make_shared<const BlockKeys>(std::move(keys)), FetchOptions()));
  }
  /// How a read of a lane fails.
  Error read(BlockLease& lease) {
    const auto view = holder.world.run(lease.read(LaneRange{0, 1}, FetchOptions()));
    return view.ok() ? Error() : view.error();
  }
  void close(BlockLease& lease) { holder.world.run(close_lease(&lease)); }

  HolderWorld holder;
  NodeOptions options;
  SlabPool memory{SlabPoolOptions{64 * kMiB, kMiB, SlabBacking::kAnonymous, false}};
  std::shared_ptr<ConnectedPeer> peer;
};

BOOST_AUTO_TEST_SUITE(connected_peer)

BOOST_AUTO_TEST_CASE(repeated_hashes_are_refused_before_anything_is_sent) {
  PeerWorld world;
  BlockKeys keys = keys_of(40);
  keys.hashes[31] = keys.hashes[7];
  const Error error = world.fetch(keys);
  BOOST_TEST((error.code() == Errc::kInvalidArgument), error.to_string());
  BOOST_TEST(error.detail().find("hashes 7 and 31") != std::string::npos, error.to_string());
  world.holder.world.settle();
  // Not even the release that a query would need: it would have left a tombstone.
  BOOST_TEST(world.holder.store.stats().ended_reads == 0U);
}

BOOST_AUTO_TEST_CASE(a_fetch_given_up_at_any_moment_leaves_no_lease) {
  bool ended_by_itself = false;
  int cancelled = 0;
  for (int steps = 0; !ended_by_itself; ++steps) {
    PeerWorld world;
    const BlockKeys keys = keys_of(3);
    world.holder.save(keys);
    CancelToken token;
    const auto outcome = world.start(keys, token);
    for (int i = 0; i < steps && !outcome->has_value(); ++i) {
      BOOST_REQUIRE(world.holder.world.step());
    }
    ended_by_itself = outcome->has_value();
    token.cancel();
    while (!outcome->has_value()) BOOST_REQUIRE(world.holder.world.step());
    BOOST_REQUIRE(!(*outcome)->ok());
    const Errc code = (*outcome)->error().code();
    BOOST_TEST((code == (ended_by_itself ? Errc::kInvalidArgument : code)));
    if (code == Errc::kCancelled) ++cancelled;
    world.holder.world.settle();
    BOOST_TEST_CONTEXT("cancelled after " << steps << " steps") {
      BOOST_TEST(world.holder.store.stats().leases == 0U);
      // The release, as a tombstone where it was served before the query.
      BOOST_TEST(world.holder.store.stats().ended_reads == 1U);
      // Whatever the holder still had to answer, it grants the read nothing any more.
      SessionClient& other = world.holder.connect();
      BOOST_TEST(world.holder.query(other, 1, keys).ok());
    }
  }
  BOOST_TEST(cancelled > 3);
}

BOOST_AUTO_TEST_CASE(however_many_close_a_peer_each_waits_until_it_is_closed) {
  PeerWorld world;
  world.holder.save(keys_of(3));
  const auto fetch = world.start(keys_of(3), CancelToken());
  constexpr std::size_t kClosers = 300;
  std::vector<VirtualWorld::Outcome<bool>> closers;
  for (std::size_t i = 0; i < kClosers; ++i) {
    closers.push_back(world.holder.world.start(close_peer(world.peer)));
  }
  // Whoever has returned may count on it that no fetch runs any more.
  while (!fetch->has_value()) {
    for (const auto& closer : closers) BOOST_TEST_REQUIRE(!closer->has_value());
    BOOST_TEST_REQUIRE(world.holder.world.step());
  }
  world.holder.world.settle();
  for (const auto& closer : closers) BOOST_TEST(closer->has_value());
}

BOOST_AUTO_TEST_CASE(a_lease_is_kept_until_it_is_closed) {
  PeerWorld world;
  const BlockKeys keys = keys_of(5);
  BlockKeys head = keys;
  head.hashes.resize(3);
  world.holder.save(head);
  auto lease = world.lease(keys);
  BOOST_REQUIRE(lease.ok());
  // A short prefix is a success with its count.
  BOOST_TEST((*lease)->block_count() == 3U);
  world.holder.world.run_for(10 * world.options.lease_ttl);
  BOOST_TEST(world.holder.store.stats().leases == 1U);
  world.close(**lease);
  world.close(**lease);
  BOOST_TEST(world.holder.store.stats().leases == 0U);
  BOOST_TEST((world.read(**lease).code() == Errc::kClosed));
}

BOOST_AUTO_TEST_CASE(a_lease_that_was_not_renewed_in_time_fails_what_is_read_later) {
  PeerWorld world;
  // Too short to be renewed at all.
  world.options.lease_ttl = std::chrono::milliseconds(15);
  world.options.lease_margin = Duration::zero();
  const BlockKeys keys = keys_of(3);
  world.holder.save(keys);
  auto lease = world.lease(keys);
  BOOST_REQUIRE(lease.ok());
  // Without rails this is as far as a read gets.
  BOOST_TEST((world.read(**lease).code() != Errc::kLeaseExpired));
  world.holder.world.run_for(std::chrono::milliseconds(15));
  const Error late = world.read(**lease);
  BOOST_TEST((late.code() == Errc::kLeaseExpired), late.to_string());
  world.close(**lease);
}

BOOST_AUTO_TEST_CASE(a_lease_asked_for_and_given_up_is_not_left_behind) {
  bool opened = false;
  for (int steps = 0; !opened; ++steps) {
    PeerWorld world;
    const BlockKeys keys = keys_of(3);
    world.holder.save(keys);
    FetchOptions options;
    const auto outcome = world.holder.world.start(world.peer->lease_blocks(
        world.holder.layout, std::make_shared<const BlockKeys>(keys), options));
    for (int i = 0; i < steps && !outcome->has_value(); ++i) {
      BOOST_REQUIRE(world.holder.world.step());
    }
    options.cancel.cancel();
    while (!outcome->has_value()) BOOST_REQUIRE(world.holder.world.step());
    opened = (*outcome)->ok();
    if (opened) world.close(****outcome);
    world.holder.world.settle();
    BOOST_TEST(world.holder.store.stats().leases == 0U);
  }
}

BOOST_AUTO_TEST_CASE(a_lease_ends_with_its_peer) {
  PeerWorld world;
  const BlockKeys keys = keys_of(3);
  world.holder.save(keys);
  auto lease = world.lease(keys);
  BOOST_REQUIRE(lease.ok());
  world.holder.world.run(close_peer(world.peer));
  world.holder.world.settle();
  BOOST_TEST(world.holder.store.stats().leases == 0U);
  BOOST_TEST((world.read(**lease).code() == Errc::kConnectionLost));
  world.close(**lease);
}

BOOST_AUTO_TEST_CASE(a_closed_peer_says_so) {
  PeerWorld world;
  world.holder.world.run(close_peer(world.peer));
  const Error error = world.fetch(keys_of(1));
  BOOST_TEST((error.code() == Errc::kConnectionLost), error.to_string());
  BOOST_TEST(world.holder.server.sessions() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

/// A holder whose region table is newer than what the requester has, and does not come.
class SlowTable final : public CallHandler {
 public:
  explicit SlowTable(const asio::any_io_executor& executor) : gone_(executor) {}

  Task<Result<FrameBuffer>> serve(InboundCall& call) override {
    if (call.method() == Method::kHello) {
      HelloAnswer answer;
      answer.protocol_version = kProtocolMax;
      answer.identity = NodeIdentity{NodeId(1), kBoot, "holder"};
      answer.auth_method = kAuthNone;
      co_return encode_hello_answer(answer);
    }
    if (call.method() == Method::kQueryBlocksForTransfer) {
      co_return encode_query_answer(small_answer(), templates_);
    }
    asked = call.method() == Method::kGetRegions;
    call.on_cancel([this] { gone_.notify(); });
    co_await gone_.wait();
    co_return Error(Errc::kCancelled, Stage::kServe, "nobody waits for it");
  }
  Result<void> on_notify(Method, std::span<const std::byte>) override { return ok_result(); }

  bool asked = false;

 private:
  Event gone_;
  TemplateCache templates_;
};

BOOST_AUTO_TEST_SUITE(session_client)

BOOST_AUTO_TEST_CASE(a_query_can_be_given_up_while_it_fetches_the_region_table) {
  VirtualWorld world;
  SlowTable holder(world.executor());
  MemoryStreamPair pair = make_stream_pair(world.executor(), {});
  Connection server(world.executor(), world.clock(), std::move(pair.right), holder,
                    ConnectionOptions());
  const auto accepted = world.start(server.open_as_server());
  const TimePoint deadline = world.now() + std::chrono::seconds(5);
  auto client = world.run(SessionClient::connect(world.executor(), world.clock(),
                                                 std::move(pair.left), ClientOptions(), deadline));
  BOOST_REQUIRE(client.ok());
  TransferQuery query;
  query.read = ReadId(1);
  query.keys = std::make_shared<const BlockKeys>(keys_of(2));
  query.layout = small_answer().layout;
  CallCancel cancel;
  const auto outcome =
      world.start((*client)->query(std::move(query), CallOptions{deadline, &cancel}));
  world.settle();
  BOOST_REQUIRE((holder.asked && !outcome->has_value()));
  cancel.fire();
  world.settle();
  BOOST_REQUIRE(outcome->has_value());
  BOOST_TEST(((*outcome)->error().code() == Errc::kCancelled));
  world.run(close(client->get()));
  world.run(close(&server));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
