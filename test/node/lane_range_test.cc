// Ranges of lanes of one lease, between two real nodes.
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/post.hpp>
#include <asio/thread_pool.hpp>
#include <boost/test/unit_test.hpp>
#include <functional>
#include <future>
#include <memory>
#include <utility>
#include <vector>

#include "test/node/support.h"
#include "test/node/two_nodes.h"

namespace corail::test {
namespace {

using Reading = std::future<Result<BlockView>>;

/// A lease of everything that is saved, over three rails.
struct Leased {
  explicit Leased(TwoNodes::Shape shape = {}) : nodes(shape, 3, 3) {
    nodes.save();
    auto connected = nodes.connect();
    BOOST_REQUIRE_MESSAGE(connected.ok(), describe(connected));
    peer = std::move(*connected);
    open(nodes.keys());
  }
  ~Leased() { close(); }

  void open(std::shared_ptr<const BlockKeys> keys) {
    auto leased = TwoNodes::run(
        nodes.requester(), peer->lease_blocks(nodes.layout(), std::move(keys), FetchOptions()));
    BOOST_REQUIRE_MESSAGE(leased.ok(), describe(leased));
    lease = std::move(*leased);
  }
  void close() { TwoNodes::run(nodes.requester(), close_it(lease.get())); }
  static Task<bool> close_it(BlockLease* lease) {
    co_await lease->close();
    co_return true;
  }

  Reading start(LaneRange lanes, FetchOptions options = {}) {
    return asio::co_spawn(nodes.requester().executor(), lease->read(lanes, std::move(options)),
                          asio::use_future);
  }
  Result<BlockView> read(LaneRange lanes, FetchOptions options = {}) {
    return start(lanes, std::move(options)).get();
  }
  void check(const Result<BlockView>& view, LaneRange lanes) const {
    BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
    std::uint64_t bytes = 0;
    for (std::uint32_t lane = lanes.begin; lane < lanes.end; ++lane) {
      bytes += std::uint64_t{view->blocks()} * nodes.layout()->lane_bytes()[lane];
    }
    BOOST_TEST(view->bytes() == bytes);
    BOOST_TEST(view->report().read_bytes == bytes);
    BOOST_TEST(nodes.mismatches(*view, lanes) == 0U);
  }
  /// Changes a byte of the holder's memory.
  void spoil(std::uint32_t block, std::uint32_t lane) {
    const auto flip = [](Node* holder, std::string hash, std::uint32_t which) -> Task<bool> {
      const auto where = holder->blocks().locate("model/a", hash, which);
      if (where) *reinterpret_cast<std::byte*>(where->address) ^= std::byte{1};
      co_return where.ok();
    };
    BOOST_REQUIRE(
        TwoNodes::run(nodes.holder(), flip(&nodes.holder(), nodes.keys()->hashes[block], lane)));
  }

  TwoNodes nodes;
  std::shared_ptr<Peer> peer;
  std::unique_ptr<BlockLease> lease;
};

Errc code_of(const Result<BlockView>& view) {
  return view.ok() ? Errc::kUnset : view.error().code();
}

BOOST_AUTO_TEST_SUITE(lane_ranges)

/// Asio's way to cancel a caller, whose thread is none of the node's.
template <typename T>
Result<T> cancelled_by_slot(Task<Result<T>> call, const std::function<bool()>& when) {
  asio::thread_pool caller(1);
  asio::cancellation_signal signal;
  auto running = asio::co_spawn(caller, std::move(call),
                                asio::bind_cancellation_slot(signal.slot(), asio::use_future));
  BOOST_TEST(comes_true(when));
  asio::post(caller, [&] { signal.emit(asio::cancellation_type::terminal); });
  auto outcome = running.get();
  caller.join();
  return outcome;
}

BOOST_AUTO_TEST_CASE(a_cancellation_slot_ends_a_lease_that_is_asked_for) {
  TwoNodes nodes(TwoNodes::Shape{}, 1, 1);
  auto peer = nodes.connect();
  BOOST_REQUIRE_MESSAGE(peer.ok(), describe(peer));
  FetchOptions waits;
  waits.wait_for_blocks = std::chrono::seconds(50);
  const auto lease = cancelled_by_slot((*peer)->lease_blocks(nodes.layout(), nodes.keys(), waits),
                                       [&] { return nodes.holder_stats().watches == 1; });
  BOOST_REQUIRE(!lease.ok());
  BOOST_TEST((lease.error().code() == Errc::kCancelled), lease.error().to_string());
  BOOST_TEST(!waits.cancel.cancelled());
  BOOST_TEST(comes_true([&] { return nodes.holder_stats().watches == 0; }));
}

BOOST_AUTO_TEST_CASE(a_cancellation_slot_ends_a_range_and_leaves_the_lease) {
  TwoNodes::Shape slow;
  slow.blocks = 400;
  slow.segment_bytes = 16 * 1024;
  slow.max_read_bytes = 4 * kKiB;
  slow.window_bytes = 4 * kKiB;
  Leased leased(slow);
  const auto view = cancelled_by_slot(leased.lease->read({0, 12}, FetchOptions()), [&] {
    return leased.nodes.requester().memory().outstanding_bytes() > 0;
  });
  BOOST_REQUIRE(!view.ok());
  BOOST_TEST((view.error().code() == Errc::kCancelled), view.error().to_string());
  BOOST_TEST(leased.nodes.requester().memory().outstanding_bytes() == 0U);
  leased.check(leased.read({0, 1}), {0, 1});
}

BOOST_AUTO_TEST_CASE(a_range_takes_its_own_bytes_of_the_budgets) {
  TwoNodes::Shape shape;
  const std::uint64_t lane_bytes = std::uint64_t{shape.blocks} * shape.segment_bytes;
  shape.peer_budget_bytes = 2 * lane_bytes;
  Leased leased(shape);
  FetchOptions refuse;
  refuse.when_full = WhenFull::kRefuse;
  leased.check(leased.read({0, 2}, refuse), {0, 2});
  // Half of the budget is kept by one that waits for a block that nobody saves.
  auto keys = std::make_shared<BlockKeys>(*leased.nodes.keys());
  keys->hashes.resize(1);
  keys->hashes[0] = "not there";
  auto layout = leased.nodes.layout();
  FetchOptions waits;
  waits.wait_for_blocks = std::chrono::seconds(50);
  auto running = asio::co_spawn(leased.nodes.requester().executor(),
                                leased.peer->fetch_blocks(layout, keys, waits), asio::use_future);
  BOOST_TEST(comes_true([&] { return leased.nodes.holder_stats().watches == 1; }));
  leased.check(leased.read({0, 1}, refuse), {0, 1});
  const auto refused = leased.read({0, 2}, refuse);
  BOOST_TEST((code_of(refused) == Errc::kQuotaExceeded), describe(refused));
  waits.cancel.cancel();
  BOOST_TEST((code_of(running.get()) == Errc::kCancelled));
  leased.check(leased.read({0, 2}, refuse), {0, 2});
}

BOOST_AUTO_TEST_CASE(ranges_are_read_at_once_under_one_lease) {
  for (const BlockOrder order : {BlockOrder::kBlockMajor, BlockOrder::kLaneMajor}) {
    TwoNodes::Shape shape;
    shape.order = order;
    Leased it(shape);
    BOOST_TEST(it.lease->block_count() == 24U);
    const std::vector<LaneRange> ranges = {{0, 1}, {1, 5}, {5, 12}, {3, 7}, {1, 5}, {0, 12}};
    for (int again = 0; again < 2; ++again) {
      std::vector<Reading> running;
      for (const LaneRange lanes : ranges) running.push_back(it.start(lanes));
      for (std::size_t i = 0; i < ranges.size(); ++i) {
        const auto view = running[i].get();
        it.check(view, ranges[i]);
        BOOST_TEST(view->report().verified_bytes == view->bytes());
      }
    }
    BOOST_TEST(it.nodes.holder_stats().leases == 1U);
    it.close();
    BOOST_TEST(it.nodes.holder_stats().leases == 0U);
    BOOST_TEST((code_of(it.read({0, 1})) == Errc::kClosed));
  }
}

BOOST_AUTO_TEST_CASE(a_short_prefix_has_its_count) {
  Leased it;
  it.close();
  it.open(it.nodes.keys_of(30));
  BOOST_TEST(it.lease->block_count() == 24U);
  const auto view = it.read({2, 4});
  it.check(view, {2, 4});
  BOOST_TEST(view->blocks() == 24U);
}

BOOST_AUTO_TEST_CASE(a_range_without_a_lane_is_refused_and_ends_nothing) {
  Leased it;
  BOOST_TEST((code_of(it.read({3, 3})) == Errc::kInvalidArgument));
  BOOST_TEST((code_of(it.read({4, 3})) == Errc::kInvalidArgument));
  BOOST_TEST((code_of(it.read({12, 13})) == Errc::kInvalidArgument));
  it.check(it.read({11, 12}), {11, 12});
}

BOOST_AUTO_TEST_CASE(cancelling_one_leaves_the_others_to_commit) {
  TwoNodes::Shape shape;
  shape.blocks = 100;
  shape.segment_bytes = 16 * 1024;
  shape.max_read_bytes = 4 * kKiB;
  shape.window_bytes = 16 * kKiB;
  Leased it(shape);
  const std::vector<LaneRange> ranges = {{0, 3}, {3, 6}, {6, 9}, {9, 12}};
  std::vector<CancelToken> tokens(ranges.size());
  std::vector<Reading> running;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    FetchOptions options;
    options.cancel = tokens[i];
    running.push_back(it.start(ranges[i], options));
  }
  BOOST_REQUIRE(comes_true([&] {
    return it.nodes.requester().memory().outstanding_bytes() >=
           shape.blocks * it.nodes.layout()->block_bytes();
  }));
  tokens[1].cancel();
  std::vector<Result<BlockView>> views;
  for (Reading& reading : running) views.push_back(reading.get());
  BOOST_TEST((code_of(views[1]) == Errc::kCancelled), describe(views[1]));
  for (const std::size_t i : {0, 2, 3}) it.check(views[i], ranges[i]);
  // The range that was given up can be read again, and the lease is what it was.
  it.check(it.read(ranges[1]), ranges[1]);
}

BOOST_AUTO_TEST_CASE(a_flipped_bit_fails_its_range_only) {
  Leased it;
  it.spoil(5, 4);
  it.check(it.read({0, 4}), {0, 4});
  it.check(it.read({5, 12}), {5, 12});
  const auto spoiled = it.read({4, 5});
  BOOST_TEST((code_of(spoiled) == Errc::kChecksumMismatch), describe(spoiled));
  BOOST_TEST((code_of(it.read({0, 12})) == Errc::kChecksumMismatch));
  FetchOptions unverified;
  unverified.integrity = Integrity::kNone;
  const auto taken = it.read({4, 5}, unverified);
  BOOST_REQUIRE(taken.ok());
  BOOST_TEST(it.nodes.mismatches(*taken, {4, 5}) == 1U);
}

BOOST_AUTO_TEST_CASE(what_was_committed_outlives_the_lease) {
  Leased it;
  const auto before = it.read({0, 6});
  // The first read of the first session.
  const auto end_it = [](Node* holder) -> Task<bool> {
    holder->blocks().release(SessionId(1), ReadId(1));
    co_return true;
  };
  TwoNodes::run(it.nodes.holder(), end_it(&it.nodes.holder()));
  const auto after = it.read({6, 12});
  BOOST_TEST((code_of(after) == Errc::kRefused), describe(after));
  FetchOptions unverified;
  unverified.integrity = Integrity::kNone;
  BOOST_TEST((code_of(it.read({6, 12}, unverified)) == Errc::kRefused));
  it.check(before, {0, 6});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
