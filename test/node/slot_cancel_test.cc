// A caller that is cancelled the way Asio cancels: its fetch ends as after a pulled token.
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/post.hpp>
#include <asio/thread_pool.hpp>
#include <asio/use_future.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <future>
#include <memory>

#include "test/node/support.h"
#include "test/node/two_nodes.h"

namespace corail::test {
namespace {

BOOST_AUTO_TEST_SUITE(slot_cancel)

/// A read of thousands of round trips, so that there is time to cancel it in its middle.
TwoNodes::Shape slow_read() {
  TwoNodes::Shape shape;
  shape.blocks = 400;
  shape.segment_bytes = 16 * 1024;
  shape.max_read_bytes = 4 * kKiB;
  shape.window_bytes = 4 * kKiB;
  return shape;
}

BOOST_AUTO_TEST_CASE(a_cancellation_slot_ends_the_fetch) {
  TwoNodes nodes(slow_read(), 1, 1);
  nodes.save();
  auto peer = nodes.connect();
  BOOST_REQUIRE(peer.ok());
  // The caller's thread is none of the node's.
  asio::thread_pool caller(1);
  asio::cancellation_signal signal;
  const FetchOptions shared;
  auto fetched = asio::co_spawn(caller, (*peer)->fetch_blocks(nodes.layout(), nodes.keys(), shared),
                                asio::bind_cancellation_slot(signal.slot(), asio::use_future));
  BOOST_REQUIRE(comes_true([&] { return nodes.requester().memory().outstanding_bytes() > 0; }));
  asio::post(caller, [&] { signal.emit(asio::cancellation_type::terminal); });
  const auto view = fetched.get();
  BOOST_REQUIRE(!view.ok());
  BOOST_TEST((view.error().code() == Errc::kCancelled), view.error().to_string());
  BOOST_TEST(nodes.requester().memory().outstanding_bytes() == 0U);
  // The token of the options may be shared with others, whom nobody cancelled.
  BOOST_TEST(!shared.cancel.cancelled());
  BOOST_TEST(comes_true([&] { return nodes.holder_stats().leases == 0; }));
  caller.join();
}

BOOST_AUTO_TEST_CASE(what_is_not_cancelled_commits) {
  TwoNodes nodes(TwoNodes::Shape{}, 1, 1);
  nodes.save();
  auto peer = nodes.connect();
  BOOST_REQUIRE(peer.ok());
  asio::thread_pool caller(1);
  asio::cancellation_signal signal;
  auto fetched =
      asio::co_spawn(caller, (*peer)->fetch_blocks(nodes.layout(), nodes.keys(), FetchOptions()),
                     asio::bind_cancellation_slot(signal.slot(), asio::use_future));
  const auto view = fetched.get();
  BOOST_REQUIRE(view.ok());
  BOOST_TEST(nodes.mismatches(*view) == 0U);
  // The slot is free again: the signal finds nobody.
  asio::post(caller, [&] { signal.emit(asio::cancellation_type::terminal); });
  caller.join();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
