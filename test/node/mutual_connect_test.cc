// Nodes that connect to each other, over real sockets and on real threads.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "test/node/cluster.h"
#include "test/node/support.h"

namespace corail::test {
namespace {

constexpr int kRounds = 200;

using SharedPeer = std::shared_ptr<Peer>;

bool ready(const std::future<Result<BlockView>>& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

SharedPeer take(std::future<Result<SharedPeer>> connecting) {
  auto peer = connecting.get();
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  return std::move(*peer);
}

/// A read of thousands of round trips: there is time for something in its middle.
Cluster::Shape slow_reads() {
  Cluster::Shape shape;
  shape.blocks = 400;
  shape.max_read_bytes = 4 * kKiB;
  shape.window_bytes = 4 * kKiB;
  return shape;
}

/// Starts a fetch and returns when it has its memory, hence its lease, and is being read.
std::future<Result<BlockView>> start_read(Cluster& cluster, std::size_t from, Peer& peer) {
  auto running = cluster.fetch(from, peer);
  BOOST_REQUIRE(comes_true(
      [&] { return cluster.node(from).memory().outstanding_bytes() > 0 || ready(running); }));
  BOOST_REQUIRE(!ready(running));
  return running;
}

BOOST_AUTO_TEST_SUITE(mutual_connects)

BOOST_AUTO_TEST_CASE(two_that_connect_at_once_share_a_connection_and_read_from_each_other) {
  Cluster pair(2, {});
  for (int round = 0; round < kRounds; ++round) {
    auto of_0 = pair.connect(0, 1);
    auto of_1 = pair.connect(1, 0);
    const SharedPeer to_1 = take(std::move(of_0));
    const SharedPeer to_0 = take(std::move(of_1));
    BOOST_TEST(to_1->name() == pair.address(1));
    BOOST_TEST(to_0->name() == pair.address(0));
    auto from_1 = pair.fetch(0, *to_1);
    auto from_0 = pair.fetch(1, *to_0);
    const auto view_of_1 = from_1.get();
    const auto view_of_0 = from_0.get();
    BOOST_REQUIRE_MESSAGE(view_of_1.ok(), describe(view_of_1));
    BOOST_REQUIRE_MESSAGE(view_of_0.ok(), describe(view_of_0));
    BOOST_TEST(pair.mismatches(*view_of_1, 1) == 0U);
    BOOST_TEST(pair.mismatches(*view_of_0, 0) == 0U);
    // The one that lost was closed before its connect() returned; the kernel may need a moment.
    BOOST_REQUIRE(comes_true([&] { return pair.control_connections() == 1; }));
    auto closed_1 = pair.close_peer(0, to_1);
    auto closed_0 = pair.close_peer(1, to_0);
    closed_1.get();
    closed_0.get();
    BOOST_REQUIRE(comes_true([&] { return pair.control_connections() == 0; }));
  }
}

BOOST_AUTO_TEST_CASE(three_that_connect_at_once_share_three_connections) {
  Cluster three(3, {});
  for (int round = 0; round < 20; ++round) {
    std::vector<std::future<Result<SharedPeer>>> connecting;
    for (const std::size_t from : {0, 1, 2}) {
      for (const std::size_t to : {0, 1, 2}) {
        if (from != to) connecting.push_back(three.connect(from, to));
      }
    }
    std::vector<SharedPeer> peers;
    for (auto& future : connecting) peers.push_back(take(std::move(future)));
    BOOST_REQUIRE(comes_true([&] { return three.control_connections() == 3; }));
    std::vector<std::future<Result<BlockView>>> reads;
    for (std::size_t i = 0; i < peers.size(); ++i) reads.push_back(three.fetch(i / 2, *peers[i]));
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const auto view = reads[i].get();
      BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
      const std::size_t from = i / 2;
      const std::size_t holder = i % 2 < from ? i % 2 : i % 2 + 1;
      BOOST_TEST(three.mismatches(*view, holder) == 0U);
    }
    for (std::size_t i = 0; i < peers.size(); ++i) three.close_peer(i / 2, peers[i]).get();
    BOOST_REQUIRE(comes_true([&] { return three.control_connections() == 0; }));
  }
}

BOOST_AUTO_TEST_CASE(closing_ones_peer_leaves_the_read_of_the_other_alone) {
  for (const std::size_t closer : {0, 1}) {
    Cluster pair(2, slow_reads());
    std::vector<SharedPeer> peers;
    peers.push_back(take(pair.connect(0, 1)));
    peers.push_back(take(pair.connect(1, 0)));
    const std::size_t reader = 1 - closer;
    auto running = start_read(pair, reader, *peers[reader]);
    pair.close_peer(closer, peers[closer]).get();
    BOOST_TEST(!ready(running));
    const auto view = running.get();
    BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
    BOOST_TEST(pair.mismatches(*view, closer) == 0U);
    BOOST_TEST(pair.control_connections() == 1U);
    pair.close_peer(reader, peers[reader]).get();
    BOOST_TEST(comes_true([&] { return pair.control_connections() == 0; }));
  }
}

BOOST_AUTO_TEST_CASE(a_node_that_closes_fails_the_reads_of_both_directions_and_leaves_them_quiet) {
  Cluster pair(2, slow_reads());
  const SharedPeer to_1 = take(pair.connect(0, 1));
  const SharedPeer to_0 = take(pair.connect(1, 0));
  auto of_0 = start_read(pair, 0, *to_1);
  auto of_1 = start_read(pair, 1, *to_0);
  auto closing = pair.start_close(0);
  for (auto* const running : {&of_0, &of_1}) {
    const auto view = running->get();
    BOOST_REQUIRE(!view.ok());
    BOOST_TEST((view.error().code() == Errc::kConnectionLost), describe(view));
  }
  closing.get();
  BOOST_TEST(pair.node(1).memory().outstanding_bytes() == 0U);
  BOOST_TEST(comes_true([&] { return pair.leases(1) == 0; }));
}

BOOST_AUTO_TEST_CASE(a_connect_that_meets_the_others_close_works) {
  Cluster pair(2, {});
  for (int round = 0; round < kRounds; ++round) {
    const SharedPeer to_1 = take(pair.connect(0, 1));
    auto closing = pair.close_peer(0, to_1);
    const SharedPeer to_0 = take(pair.connect(1, 0));
    closing.get();
    const auto view = pair.fetch(1, *to_0).get();
    BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
    BOOST_TEST(pair.mismatches(*view, 0) == 0U);
    BOOST_TEST(pair.control_connections() == 1U);
    pair.close_peer(1, to_0).get();
    BOOST_REQUIRE(comes_true([&] { return pair.control_connections() == 0; }));
  }
}

BOOST_AUTO_TEST_CASE(a_node_may_close_while_both_connect) {
  for (int round = 0; round < 20; ++round) {
    Cluster pair(2, {});
    auto of_0 = pair.connect(0, 1);
    auto of_1 = pair.connect(1, 0);
    auto closing = pair.start_close(static_cast<std::size_t>(round % 2));
    for (auto* const connecting : {&of_0, &of_1}) {
      const auto peer = connecting->get();
      if (peer.ok()) continue;
      const Errc code = peer.error().code();
      BOOST_TEST((code == Errc::kClosed || code == Errc::kConnectionLost ||
                  code == Errc::kConnectFailed || code == Errc::kRefused),
                 describe(peer));
    }
    closing.get();
  }
}

BOOST_AUTO_TEST_CASE(a_node_may_connect_to_itself) {
  Cluster one(1, {});
  const SharedPeer self = take(one.connect(0, 0));
  const auto view = one.fetch(0, *self).get();
  BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
  BOOST_TEST(one.mismatches(*view, 0) == 0U);
  one.close_peer(0, self).get();
  BOOST_TEST(comes_true([&] { return one.control_connections() == 0; }));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
