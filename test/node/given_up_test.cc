// Reads over sockets of this machine that are given up, and what they give back: leases, chunks,
// descriptors, threads.
#include <fmt/core.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "test/node/slow_read.h"
#include "test/node/support.h"
#include "test/node/two_nodes.h"
#include "test/support/repetitions.h"
#include "test/support/resource_census.h"

namespace corail::test {
namespace {

using std::chrono::milliseconds;

/// Two nodes with a peer that has been read from once, and the numbers of then.
struct Connected {
  explicit Connected(const TwoNodes::Shape& shape) : nodes(shape, 2, 2) {
    nodes.save();
    auto connected = nodes.connect();
    BOOST_REQUIRE_MESSAGE(connected.ok(), describe(connected));
    peer = std::move(*connected);
    check_reads();
  }

  /// Everything can be read, and is right.
  void check_reads() {
    const auto view = nodes.fetch(*peer, nodes.keys());
    BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
    BOOST_TEST(nodes.mismatches(*view) == 0u);
  }

  TwoNodes nodes;
  std::shared_ptr<Peer> peer;
};

BOOST_AUTO_TEST_SUITE(given_up)

BOOST_AUTO_TEST_CASE(a_cancelled_read_gives_everything_back) {
  Connected pair(slow_read());
  const ResourceCensus census = census_of(pair.nodes);
  FetchOptions options;
  CancelToken token;
  options.cancel = token;
  auto running = start_read(pair.nodes, *pair.peer, options);
  token.cancel();
  const auto view = running.get();
  BOOST_REQUIRE(!view.ok());
  BOOST_TEST((view.error().code() == Errc::kCancelled), describe(view));
  BOOST_TEST(pair.nodes.requester().memory().outstanding_bytes() == 0u);
  BOOST_TEST(census.lasting_difference() == "");
  pair.check_reads();
}

BOOST_AUTO_TEST_CASE(a_read_past_its_deadline_gives_everything_back) {
  Connected pair(slow_read());
  const ResourceCensus census = census_of(pair.nodes);
  FetchOptions options;
  options.deadline = milliseconds(30);
  const auto view = pair.nodes.fetch(*pair.peer, pair.nodes.keys(), options);
  BOOST_REQUIRE(!view.ok());
  BOOST_TEST((view.error().code() == Errc::kDeadline), describe(view));
  BOOST_TEST(pair.nodes.requester().memory().outstanding_bytes() == 0u);
  BOOST_TEST(census.lasting_difference() == "");
  pair.check_reads();
}

BOOST_AUTO_TEST_CASE(one_of_eight_reads_is_cancelled_and_seven_commit) {
  constexpr std::size_t kVictim = 5;
  TwoNodes::Shape shape = slow_read();
  shape.blocks = 48;
  Connected pair(shape);
  const ResourceCensus census = census_of(pair.nodes);
  CancelToken token;
  std::vector<std::future<Result<BlockView>>> running;
  for (std::size_t i = 0; i < 8; ++i) {
    FetchOptions options;
    if (i == kVictim) options.cancel = token;
    running.push_back(start_fetch(pair.nodes, *pair.peer, options));
  }
  const std::uint64_t all = 8 * shape.blocks * pair.nodes.layout()->block_bytes();
  BOOST_REQUIRE(
      comes_true([&] { return pair.nodes.requester().memory().outstanding_bytes() >= all; }));
  token.cancel();
  for (std::size_t i = 0; i < running.size(); ++i) {
    const auto view = running[i].get();
    BOOST_TEST(view.ok() == (i != kVictim), describe(view));
    if (view.ok()) BOOST_TEST(pair.nodes.mismatches(*view) == 0u);
  }
  BOOST_TEST(census.lasting_difference() == "");
}

BOOST_AUTO_TEST_CASE(at_any_time_a_cancelled_fetch_either_commits_or_leaves_nothing) {
  constexpr int kRounds = repetitions(200);
  Connected pair(TwoNodes::Shape{});
  const ResourceCensus census = census_of(pair.nodes);
  const auto begin = std::chrono::steady_clock::now();
  BOOST_TEST(pair.nodes.fetch(*pair.peer, pair.nodes.keys()).ok());
  const auto whole = std::chrono::steady_clock::now() - begin;
  SeededRandom random(9);
  int committed = 0;
  for (int round = 0; round < kRounds; ++round) {
    FetchOptions options;
    CancelToken token;
    options.cancel = token;
    const auto wait = whole * static_cast<int>(random.below(1200)) / 1000;
    const auto started = std::chrono::steady_clock::now();
    auto running = start_fetch(pair.nodes, *pair.peer, options);
    while (std::chrono::steady_clock::now() - started < wait) {
    }
    token.cancel();
    const auto view = running.get();
    if (view.ok()) {
      ++committed;
      BOOST_TEST(pair.nodes.mismatches(*view) == 0u);
    } else {
      BOOST_TEST((view.error().code() == Errc::kCancelled), describe(view));
      BOOST_TEST(pair.nodes.requester().memory().outstanding_bytes() == 0u);
    }
  }
  BOOST_TEST(census.lasting_difference() == "");
  fmt::print("tcp: {} fetches cancelled at random times: {} committed\n", kRounds, committed);
  pair.check_reads();
}

BOOST_AUTO_TEST_CASE(a_lease_that_ends_within_a_read_is_told_from_the_callers_deadline) {
  TwoNodes::Shape shape = slow_read();
  // Too short to be renewed.
  shape.lease_ttl = milliseconds(16);
  shape.lease_margin = milliseconds(1);
  TwoNodes nodes(shape, 1, 1);
  nodes.save();
  auto peer = nodes.connect();
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  FetchOptions options;
  options.deadline = std::chrono::hours(1);
  const auto late = nodes.fetch(**peer, nodes.keys(), options);
  BOOST_REQUIRE(!late.ok());
  BOOST_TEST((late.error().code() == Errc::kLeaseExpired), describe(late));
  options.deadline = milliseconds(5);
  const auto impatient = nodes.fetch(**peer, nodes.keys(), options);
  BOOST_REQUIRE(!impatient.ok());
  BOOST_TEST((impatient.error().code() == Errc::kDeadline), describe(impatient));
  BOOST_TEST(nodes.requester().memory().outstanding_bytes() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
