#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>

#include "test/node/support.h"
#include "test/node/two_nodes.h"

namespace corail::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

FetchOptions waiting(Duration wait) {
  FetchOptions options;
  options.wait_for_blocks = wait;
  return options;
}

BOOST_AUTO_TEST_SUITE(wait_for_blocks)

BOOST_AUTO_TEST_CASE(what_is_saved_meanwhile_is_fetched_in_one_go) {
  const TwoNodes::Shape shape;
  TwoNodes nodes(shape, 2, 2);
  auto peer = nodes.connect();
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  auto running = nodes.start(**peer, waiting(seconds(50)));
  BOOST_TEST(comes_true([&] { return nodes.holder_stats().watches == 1; }));
  nodes.save();
  const auto view = running.get();
  BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
  BOOST_TEST(view->blocks() == shape.blocks);
  BOOST_TEST(nodes.mismatches(*view) == 0U);
  BOOST_TEST((view->report().stages.query < seconds(50)));
  // One read was queried for, and its lease confirmed.
  BOOST_TEST(nodes.holder_stats().ended_reads == 1U);
  BOOST_TEST(nodes.holder_stats().leases == 0U);
  BOOST_TEST(nodes.holder_stats().watches == 0U);
}

BOOST_AUTO_TEST_CASE(when_the_time_is_over_it_is_what_there_is) {
  const TwoNodes::Shape shape;
  TwoNodes nodes(shape, 1, 1);
  auto peer = nodes.connect();
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  const auto nothing = nodes.fetch(**peer, nodes.keys(), waiting(milliseconds(20)));
  BOOST_REQUIRE(!nothing.ok());
  BOOST_TEST((nothing.error().code() == Errc::kNotFound), describe(nothing));
  nodes.save();
  const auto view = nodes.fetch(**peer, nodes.keys_of(shape.blocks + 3), waiting(milliseconds(20)));
  BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
  BOOST_TEST(view->blocks() == shape.blocks);
  BOOST_TEST(nodes.mismatches(*view) == 0U);
  BOOST_TEST((view->report().stages.query >= milliseconds(20)));
}

BOOST_AUTO_TEST_CASE(a_cancel_while_waiting_leaves_neither_a_wait_nor_a_lease) {
  TwoNodes nodes(TwoNodes::Shape{}, 1, 1);
  auto peer = nodes.connect();
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  FetchOptions options = waiting(seconds(50));
  auto running = nodes.start(**peer, options);
  BOOST_TEST(comes_true([&] { return nodes.holder_stats().watches == 1; }));
  options.cancel.cancel();
  const auto cancelled = running.get();
  BOOST_REQUIRE(!cancelled.ok());
  BOOST_TEST((cancelled.error().code() == Errc::kCancelled), describe(cancelled));
  BOOST_TEST(comes_true([&] { return nodes.holder_stats().watches == 0; }));
  nodes.save();
  BOOST_TEST(nodes.holder_stats().leases == 0U);
}

BOOST_AUTO_TEST_CASE(a_wait_that_no_holder_grants_is_refused_before_anything_is_sent) {
  TwoNodes nodes(TwoNodes::Shape{}, 1, 1);
  auto peer = nodes.connect();
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  for (const Duration wait : {Duration(milliseconds(-1)), Duration(std::chrono::minutes(6))}) {
    const auto refused = nodes.fetch(**peer, nodes.keys(), waiting(wait));
    BOOST_REQUIRE(!refused.ok());
    BOOST_TEST((refused.error().code() == Errc::kInvalidArgument), describe(refused));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
