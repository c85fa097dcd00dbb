// When peers come and go: connects and closes that meet, connections that are lost, what is told on
// the way.
#include <asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "engine/exec/sleep.h"
#include "engine/exec/tcp_stream.h"
#include "rpc/session_client.h"
#include "test/node/holder_process.h"
#include "test/node/slow_read.h"
#include "test/node/support.h"
#include "test/node/two_nodes.h"
#include "test/support/resource_census.h"

namespace corail::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// The numbers while there is no peer. Asio opens some descriptors of its own with the first one,
/// so there was one before.
ResourceCensus census_without_peer(TwoNodes& nodes, const HolderProcess& holder) {
  auto peer = nodes.connect_to(holder.address());
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  close(nodes, **peer);
  return census_of(nodes);
}

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
/// Connects as a requester, changes a region of the holder, and waits until it has heard of it.
Task<Result<bool>> hear_of_a_change(asio::any_io_executor executor, Clock& clock, Node& holder) {
  const TimePoint deadline = clock.now() + seconds(20);
  auto stream = co_await connect_tcp(executor, clock, holder.listen_address(), deadline);
  if (!stream) co_return stream.error();
  ClientOptions options;
  auto client = co_await SessionClient::connect(executor, clock, std::move(*stream),
                                                std::move(options), deadline);
  if (!client) co_return client.error();
  std::vector<std::string> rails;
  rails.emplace_back("tcp:127.0.0.1");
  const auto opened = co_await (*client)->open_rails(std::move(rails), deadline);
  const auto added = holder.regions().add(0x1000, 0x1000, 0, {});
  const auto wanted = holder.regions().snapshot()->generation();
  const auto timer = clock.make_timer(executor);
  while ((*client)->regions()->generation() != wanted && clock.now() < deadline) {
    co_await sleep_until(*timer, clock.now() + milliseconds(1));
  }
  const bool heard = (*client)->regions()->generation() == wanted;
  co_await (*client)->close();
  if (!opened) co_return opened.error();
  if (!added) co_return added.error();
  co_return heard;
}
#pragma GCC diagnostic pop

}  // namespace

BOOST_AUTO_TEST_SUITE(peer_life)

BOOST_AUTO_TEST_CASE(a_holder_that_is_killed_during_a_read_fails_the_read_and_frees_its_memory) {
  HolderProcess holder(slow_read(), 4);
  TwoNodes nodes(slow_read(), 1, 4);
  const ResourceCensus census = census_without_peer(nodes, holder);
  auto peer = nodes.connect_to(holder.address());
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  auto running = start_read(nodes, **peer, FetchOptions());
  holder.kill();
  const auto view = running.get();
  BOOST_REQUIRE(!view.ok());
  BOOST_TEST((view.error().code() == Errc::kConnectionLost), describe(view));
  BOOST_TEST(!view.error().detail().empty());
  BOOST_TEST(nodes.requester().memory().outstanding_bytes() == 0u);
  const auto after = nodes.fetch(**peer, nodes.keys());
  BOOST_REQUIRE(!after.ok());
  BOOST_TEST((after.error().code() == Errc::kConnectionLost), describe(after));
  BOOST_TEST(census.lasting_difference() == "");
}

BOOST_AUTO_TEST_CASE(a_holder_that_hangs_fails_the_read_after_the_keep_alive_not_at_its_deadline) {
  HolderProcess holder(slow_read(), 2);
  TwoNodes nodes(slow_read(), 1, 2);
  const ResourceCensus census = census_without_peer(nodes, holder);
  auto peer = nodes.connect_to(holder.address());
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  auto running = start_read(nodes, **peer, FetchOptions());
  const auto frozen = std::chrono::steady_clock::now();
  holder.freeze();
  const auto view = running.get();
  BOOST_TEST((std::chrono::steady_clock::now() - frozen < FetchOptions{}.deadline / 2));
  BOOST_REQUIRE(!view.ok());
  BOOST_TEST((view.error().code() == Errc::kConnectionLost), describe(view));
  BOOST_TEST(view.error().detail().find("pings") != std::string::npos, describe(view));
  BOOST_TEST(nodes.requester().memory().outstanding_bytes() == 0u);
  // The peer is still shared, yet nothing of it stays open.
  BOOST_TEST(census.lasting_difference() == "");
}

BOOST_AUTO_TEST_CASE(closing_a_peer_ends_its_read_as_failed) {
  TwoNodes nodes(slow_read(), 2, 2);
  nodes.save();
  auto peer = nodes.connect();
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  auto running = start_read(nodes, **peer, FetchOptions());
  close(nodes, **peer);
  const auto view = running.get();
  BOOST_REQUIRE(!view.ok());
  BOOST_TEST((view.error().code() == Errc::kConnectionLost), describe(view));
}

BOOST_AUTO_TEST_CASE(running_out_of_memory_is_an_outcome_and_gives_the_lease_back) {
  TwoNodes nodes(TwoNodes::Shape{}, 2, 2);
  nodes.save();
  auto peer = nodes.connect();
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  nodes.starve_requester(true);
  const auto starved = nodes.fetch(**peer, nodes.keys());
  BOOST_REQUIRE(!starved.ok());
  BOOST_TEST((starved.error().code() == Errc::kOutOfMemory), describe(starved));
  BOOST_TEST(!starved.error().peer().empty());
  BOOST_TEST(nodes.holder_stats().leases == 0u);
  BOOST_TEST(nodes.requester().memory().outstanding_bytes() == 0u);
  nodes.starve_requester(false);
  const auto view = nodes.fetch(**peer, nodes.keys());
  BOOST_TEST(view.ok(), describe(view));
  // It waits for whatever fetch is still said to run.
  close(nodes, **peer);
}

BOOST_AUTO_TEST_CASE(a_node_keeps_no_peer_that_was_closed) {
  TwoNodes::Shape shape;
  HolderProcess holder(shape, 2);
  TwoNodes nodes(shape, 1, 2);
  const ResourceCensus census = census_without_peer(nodes, holder);
  for (int round = 0; round < 5; ++round) {
    auto peer = nodes.connect_to(holder.address());
    BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
    BOOST_TEST(census.difference() != "");
    close(nodes, **peer);
    BOOST_TEST(census.difference() == "");
    const std::weak_ptr<Peer> kept = *peer;
    peer = Error();
    BOOST_REQUIRE(comes_true([&] { return kept.expired(); }));
  }
}

BOOST_AUTO_TEST_CASE(a_node_keeps_no_peer_whose_connection_was_lost) {
  TwoNodes::Shape shape;
  HolderProcess holder(shape, 2);
  TwoNodes nodes(shape, 1, 2);
  const ResourceCensus census = census_without_peer(nodes, holder);
  auto peer = nodes.connect_to(holder.address());
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  BOOST_TEST(census.difference() != "");
  holder.kill();
  BOOST_TEST(census.lasting_difference() == "");
  const std::weak_ptr<Peer> kept = *peer;
  peer = Error();
  BOOST_TEST(comes_true([&] { return kept.expired(); }));
}

BOOST_AUTO_TEST_CASE(a_node_may_be_closed_at_any_moment_of_a_connect) {
  TwoNodes nodes(TwoNodes::Shape{}, 2, 2);
  SteadyClock clock;
  SeededRandom random(5);
  bool connected_before = false;
  int refused = 0;
  for (int steps = 0; !connected_before; ++steps) {
    asio::io_context context(1);
    NodeOptions options;
    options.rails = {"tcp:127.0.0.1", "tcp:127.0.0.2"};
    auto node = Node::create(options, clock, random, &context);
    BOOST_REQUIRE_MESSAGE(node.ok(), describe(node));
    const auto step = [&context] {
      context.restart();
      context.run_one_for(seconds(1));
    };
    auto starting = asio::co_spawn((*node)->executor(), (*node)->start(), asio::use_future);
    while (!ready(starting)) step();
    auto connecting = asio::co_spawn(
        (*node)->executor(), (*node)->connect(nodes.holder().listen_address()), asio::use_future);
    for (int i = 0; i < steps && !ready(connecting); ++i) step();
    connected_before = ready(connecting);
    auto closing = asio::co_spawn((*node)->executor(), (*node)->close(), asio::use_future);
    while (!ready(closing)) step();
    // The node is gone for the connect as well; only its answer may still be on the way.
    while (!ready(connecting)) step();
    const auto peer = connecting.get();
    if (!peer.ok()) {
      ++refused;
      BOOST_TEST((peer.error().code() == Errc::kClosed), describe(peer));
    }
    (*node)->stop();
  }
  // Before the first await, and in each of those for the stream, the session and the rails.
  BOOST_TEST(refused >= 4);
}

BOOST_AUTO_TEST_CASE(a_change_of_regions_is_told_to_those_that_are_connected) {
  TwoNodes nodes(TwoNodes::Shape{}, 1, 1);
  asio::io_context context(1);
  SteadyClock clock;
  auto heard = asio::co_spawn(
      context, hear_of_a_change(context.get_executor(), clock, nodes.holder()), asio::use_future);
  context.run();
  const auto result = heard.get();
  BOOST_REQUIRE_MESSAGE(result.ok(), describe(result));
  BOOST_TEST(*result);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace corail::test
