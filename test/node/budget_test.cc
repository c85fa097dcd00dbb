#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/node/support.h"
#include "test/node/two_nodes.h"

namespace corail::test {
namespace {

using std::chrono::milliseconds;

/// The peers of one holder: each is a connection of its own.
std::vector<std::shared_ptr<Peer>> peers_of(TwoNodes& nodes, std::size_t count) {
  std::vector<std::shared_ptr<Peer>> peers;
  for (std::size_t i = 0; i < count; ++i) {
    auto peer = nodes.connect();
    BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
    peers.push_back(*peer);
  }
  return peers;
}

std::uint64_t bytes_of_a_read(const TwoNodes::Shape& shape) {
  return std::uint64_t{shape.blocks} * shape.slots * 2 * shape.segment_bytes;
}

/// Many fetches at once, all of which find the budget full: somebody waits for blocks that are not
/// saved before they have asked.
void check_that_many_take_turns(TwoNodes& nodes, std::size_t peers) {
  const auto all = peers_of(nodes, peers);
  FetchOptions first;
  first.wait_for_blocks = std::chrono::seconds(50);
  std::vector<std::future<Result<BlockView>>> running;
  running.push_back(nodes.start(*all[0], first));
  BOOST_TEST(comes_true([&] { return nodes.holder_stats().watches == 1; }));
  for (std::size_t i = 0; i < 24; ++i) {
    running.push_back(nodes.start(*all[i % peers], FetchOptions()));
  }
  // What they post to themselves comes before what is posted later.
  const auto turn = []() -> Task<bool> { co_return true; };
  for (int i = 0; i < 10; ++i) TwoNodes::run(nodes.requester(), turn());
  nodes.save();
  std::size_t waited = 0;
  for (auto& future : running) {
    const auto view = future.get();
    BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
    BOOST_TEST(nodes.mismatches(*view) == 0U);
    // Whoever finds room sees no time pass but that of a few instructions.
    if (view->report().stages.admit > std::chrono::microseconds(100)) ++waited;
  }
  BOOST_TEST(waited >= 24U);
}

void check_refused(const Result<BlockView>& view, std::string_view option) {
  BOOST_REQUIRE(!view.ok());
  BOOST_TEST((view.error().code() == Errc::kQuotaExceeded), describe(view));
  BOOST_TEST((view.error().error_class() == ErrorClass::kBackPressure));
  BOOST_TEST(view.error().detail().find(option) != std::string::npos, describe(view));
}

BOOST_AUTO_TEST_SUITE(budgets)

BOOST_AUTO_TEST_CASE(many_fetches_at_once_take_turns_within_the_peers_budget) {
  TwoNodes::Shape shape;
  shape.peer_budget_bytes = bytes_of_a_read(shape);
  TwoNodes nodes(shape, 2, 2);
  check_that_many_take_turns(nodes, 1);
}

BOOST_AUTO_TEST_CASE(peers_share_the_nodes_budget_and_ports) {
  TwoNodes::Shape shape;
  shape.node_budget_bytes = bytes_of_a_read(shape) + 100;
  shape.port_budget_bytes = 100 * kKiB;
  TwoNodes nodes(shape, 2, 2);
  check_that_many_take_turns(nodes, 3);
}

/// A fetch that waits for its blocks has its part of the budget, so that what is full is certain.
BOOST_AUTO_TEST_CASE(who_finds_no_room_is_refused_or_waits_and_leaves_nothing_behind) {
  TwoNodes::Shape shape;
  shape.peer_budget_bytes = bytes_of_a_read(shape);
  TwoNodes nodes(shape, 1, 1);
  const auto peers = peers_of(nodes, 2);
  FetchOptions first;
  first.wait_for_blocks = std::chrono::seconds(50);
  auto running = nodes.start(*peers[0], first);
  BOOST_TEST(comes_true([&] { return nodes.holder_stats().watches == 1; }));

  FetchOptions refuse;
  refuse.when_full = WhenFull::kRefuse;
  check_refused(nodes.fetch(*peers[0], nodes.keys(), refuse), "peer_budget_bytes");
  FetchOptions impatient;
  impatient.deadline = milliseconds(50);
  const auto late = nodes.fetch(*peers[0], nodes.keys(), impatient);
  BOOST_REQUIRE(!late.ok());
  BOOST_TEST((late.error().code() == Errc::kDeadline), describe(late));
  FetchOptions given_up;
  auto waiting = nodes.start(*peers[0], given_up);
  given_up.cancel.cancel();
  const auto cancelled = waiting.get();
  BOOST_REQUIRE(!cancelled.ok());
  BOOST_TEST((cancelled.error().code() == Errc::kCancelled), describe(cancelled));
  // Another peer has a budget of its own, and the holder heard of none of these.
  const auto other = nodes.fetch(*peers[1], nodes.keys(), refuse);
  BOOST_REQUIRE(!other.ok());
  BOOST_TEST((other.error().code() == Errc::kNotFound), describe(other));

  nodes.save();
  const auto view = running.get();
  BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
  const auto after = nodes.fetch(*peers[0], nodes.keys(), refuse);
  BOOST_TEST(after.ok(), describe(after));
}

BOOST_AUTO_TEST_CASE(a_fetch_that_waits_for_room_ends_with_its_peer) {
  TwoNodes::Shape shape;
  shape.node_budget_bytes = bytes_of_a_read(shape);
  TwoNodes nodes(shape, 1, 1);
  const auto peers = peers_of(nodes, 2);
  FetchOptions first;
  first.wait_for_blocks = std::chrono::seconds(50);
  auto running = nodes.start(*peers[0], first);
  BOOST_TEST(comes_true([&] { return nodes.holder_stats().watches == 1; }));
  auto waiting = nodes.start(*peers[1], FetchOptions());
  const auto close = [](std::shared_ptr<Peer> peer) -> Task<bool> {
    co_await peer->close();
    co_return true;
  };
  BOOST_TEST(TwoNodes::run(nodes.requester(), close(peers[1])));
  const auto ended = waiting.get();
  BOOST_REQUIRE(!ended.ok());
  BOOST_TEST((ended.error().code() == Errc::kConnectionLost), describe(ended));
  nodes.save();
  BOOST_TEST(running.get().ok());
}

BOOST_AUTO_TEST_CASE(ports_that_have_all_that_they_may_refuse_who_does_not_wait) {
  TwoNodes::Shape shape;
  shape.blocks = 128;
  shape.segment_bytes = 32 * 1024;
  shape.port_budget_bytes = 64 * kKiB;
  // Two rails through one port.
  TwoNodes nodes(shape, 2, 1);
  nodes.save();
  const auto peers = peers_of(nodes, 1);
  FetchOptions refuse;
  refuse.when_full = WhenFull::kRefuse;
  auto running = nodes.start(*peers[0], FetchOptions());
  Result<BlockView> refused;
  BOOST_TEST(comes_true([&] {
    refused = nodes.fetch(*peers[0], nodes.keys_of(1), refuse);
    if (!refused.ok()) return true;
    if (running.wait_for(milliseconds(0)) == std::future_status::ready) {
      BOOST_TEST(running.get().ok());
      running = nodes.start(*peers[0], FetchOptions());
    }
    return false;
  }));
  check_refused(refused, "port_budget_bytes");
  BOOST_TEST(running.get().ok());
  const auto after = nodes.fetch(*peers[0], nodes.keys_of(1), refuse);
  BOOST_TEST(after.ok(), describe(after));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
