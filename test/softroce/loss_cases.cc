// Reads that lose a rail on the way, or their lease.
#include <fmt/core.h>

#include <asio/co_spawn.hpp>
#include <asio/use_future.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "test/softroce/link.h"
#include "test/softroce/verbs_nodes.h"

namespace corail::test {
namespace {

using std::chrono::seconds;

constexpr std::uint32_t kBlocks = 512;

/// A read that goes on for long enough to lose something in its middle.
TwoNodes::Shape slow_verbs_shape() {
  TwoNodes::Shape shape = verbs_shape(kBlocks);
  shape.max_read_bytes = 4 * kKiB;
  shape.window_bytes = 8 * kKiB;
  return shape;
}

bool both_rails_read(const Result<BlockView>& view) {
  if (!view.ok() || view->report().rails.size() != 2) return false;
  return view->report().rails[0].bytes > 0 && view->report().rails[1].bytes > 0;
}

/// Waits until reads use the second rail again, which its breaker decides.
void wait_for_both_rails(VerbsNodes& pair) {
  const auto until = std::chrono::steady_clock::now() + seconds(60);
  for (;;) {
    const auto view = pair.nodes.fetch(*pair.peer, pair.nodes.keys());
    if (both_rails_read(view)) return;
    BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
    BOOST_TEST_REQUIRE((std::chrono::steady_clock::now() < until));
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
}

BOOST_AUTO_TEST_SUITE(losses)

BOOST_AUTO_TEST_CASE(a_rail_that_is_cut_fails_the_read_safely_and_comes_back) {
  VerbsNodes pair(slow_verbs_shape());
  auto running = pair.start_read(FetchOptions());
  LinkCut cut("ve1");
  const auto failed = running.get();
  BOOST_REQUIRE(!failed.ok());
  BOOST_TEST((failed.error().code() == Errc::kConnectionLost), describe(failed));
  BOOST_TEST(failed.error().rail() == "verbs:rxe1:1>10.77.1.1");
  BOOST_TEST(pair.outstanding() == 0U);
  {
    const NextOwner owner(pair.nodes.requester().memory(),
                          kBlocks * pair.nodes.layout()->block_bytes());
    // Reads that begin while it is down go over the other one.
    const auto alone = pair.nodes.fetch(*pair.peer, pair.nodes.keys());
    BOOST_REQUIRE_MESSAGE(alone.ok(), describe(alone));
    BOOST_TEST(pair.nodes.mismatches(*alone) == 0U);
    BOOST_TEST(!both_rails_read(alone));
    cut.mend();
    BOOST_TEST(owner.late_bytes() == 0U);
  }
  wait_for_both_rails(pair);
}

/// Until it opens, each time that the rail is cut is one fault at most: a port that says that it is
/// down before its queue pairs do is none.
BOOST_AUTO_TEST_CASE(a_rail_that_is_cut_again_and_again_opens_its_breaker_and_comes_back) {
  constexpr int kMostCuts = 12;
  VerbsNodes pair(slow_verbs_shape());
  bool opened = false;
  int cuts = 0;
  for (; cuts < kMostCuts && !opened; ++cuts) {
    auto running = pair.start_read(FetchOptions());
    LinkCut cut("ve1");
    const auto failed = running.get();
    // On a busy machine a read may be over before its rail is cut.
    if (!failed.ok())
      BOOST_TEST((failed.error().code() == Errc::kConnectionLost), describe(failed));
    const auto alone = pair.nodes.fetch(*pair.peer, pair.nodes.keys());
    BOOST_REQUIRE_MESSAGE(alone.ok(), describe(alone));
    BOOST_TEST_REQUIRE(alone->report().rails.size() == 2U);
    opened = alone->report().rails[1].down.find("breaker open") != std::string::npos;
    cut.mend();
    wait_for_both_rails(pair);
  }
  fmt::print("the breaker opened with cut {}\n", cuts);
  BOOST_TEST(opened);
}

BOOST_AUTO_TEST_CASE(what_a_cut_rail_did_not_bring_comes_over_the_other) {
  // On a busy machine a read may be over before its rail is cut.
  constexpr int kMostCuts = 12;
  VerbsNodes pair(slow_verbs_shape());
  std::uint64_t retried = 0;
  int cuts = 0;
  for (; cuts < kMostCuts && retried == 0; ++cuts) {
    FetchOptions options;
    options.retry_on_survivors = true;
    auto running = pair.start_read(options);
    LinkCut cut("ve1");
    const auto view = running.get();
    cut.mend();
    BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
    BOOST_TEST(pair.nodes.mismatches(*view) == 0U);
    BOOST_TEST(view->report().read_bytes == view->report().needed_bytes);
    retried = view->report().retried_slices;
    wait_for_both_rails(pair);
  }
  fmt::print("{} slices came over the other rail after cut {}\n", retried, cuts);
  BOOST_TEST(retried > 0U);
}

Task<Result<void>> close_lease(BlockLease* lease) {
  co_await lease->close();
  co_return ok_result();
}

/// The holder's answers are cut off, its memory is not: READs go on, and must not be believed.
BOOST_AUTO_TEST_CASE(nothing_is_committed_under_a_lease_that_has_lapsed) {
  TwoNodes::Shape shape = verbs_shape(16);
  shape.lease_ttl = seconds(4);
  shape.lease_margin = seconds(1);
  VerbsNodes pair(shape);
  Node& requester = pair.nodes.requester();
  auto leased = TwoNodes::run(
      requester, pair.peer->lease_blocks(pair.nodes.layout(), pair.nodes.keys(), FetchOptions()));
  BOOST_REQUIRE_MESSAGE(leased.ok(), describe(leased));
  BlockLease& lease = **leased;
  const auto before = TwoNodes::run(requester, lease.read({0, 4}, FetchOptions()));
  FetchOptions unverified;
  unverified.integrity = Integrity::kNone;
  LinkCut cut("lo");
  auto running =
      asio::co_spawn(requester.executor(), lease.read({4, 12}, unverified), asio::use_future);
  std::this_thread::sleep_for(shape.lease_ttl + seconds(1));
  cut.mend();
  const auto lapsed = running.get();
  const auto after = TwoNodes::run(requester, lease.read({4, 12}, unverified));
  const auto closed = TwoNodes::run(requester, close_lease(&lease));
  BOOST_TEST(closed.ok());
  BOOST_REQUIRE_MESSAGE(before.ok(), describe(before));
  BOOST_TEST(pair.nodes.mismatches(*before, {0, 4}) == 0U);
  BOOST_REQUIRE(!lapsed.ok());
  // All of it had landed.
  BOOST_TEST((lapsed.error().code() == Errc::kLeaseExpired), describe(lapsed));
  BOOST_TEST((lapsed.error().stage() == Stage::kConfirm));
  BOOST_REQUIRE(!after.ok());
  BOOST_TEST((after.error().code() == Errc::kLeaseExpired), describe(after));
  pair.check_reads();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
