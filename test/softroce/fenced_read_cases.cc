// Reads that climb the ladder to the fence, and what becomes of those beside them.
#include <fmt/core.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "engine/rail/landing_window.h"
#include "test/softroce/queue_pairs.h"
#include "test/softroce/verbs_nodes.h"

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Enough that some of them meet the device in the middle of what it was told to do.
constexpr std::size_t kFencedReads = 10;
constexpr std::size_t kLeastFenced = 3;
/// Whether a read that is given up still has something under way by then is chance: in half of the
/// rounds on a quiet machine, in one of twenty on a busy one; of eight reads at once in one of ten.
constexpr std::size_t kMostRounds = 200;

/// A window that is posted whole before any rate is known, which is so on rails that have read
/// nothing yet, and is more than an emulated device moves in half of the fence deadline: that is
/// how long a read waits for it before it fences.
TwoNodes::Shape fenced_shape(std::uint32_t blocks) {
  TwoNodes::Shape shape = verbs_shape(blocks);
  shape.max_read_bytes = 256 * kKiB;
  shape.window_bytes = kFirstWindowBytes;
  shape.fence_deadline = milliseconds(100);
  return shape;
}

BOOST_AUTO_TEST_SUITE(fenced_reads)

/// The queue pairs that a fence takes are built anew, and the rails go on.
BOOST_AUTO_TEST_CASE(nothing_lands_behind_reads_that_had_to_be_fenced) {
  VerbsNodes pair(fenced_shape(512));
  const std::uint64_t bytes = 512 * pair.nodes.layout()->block_bytes();
  SeededRandom random(12);
  std::size_t fenced = 0;
  std::uint64_t late = 0;
  std::size_t rounds = 0;
  for (; rounds < kMostRounds && fenced < kFencedReads; ++rounds) {
    pair.connect_anew();
    const auto before = queue_pairs();
    FetchOptions options;
    CancelToken token = options.cancel;
    auto running = pair.start_read(options);
    std::this_thread::sleep_for(microseconds(random.below(10'000)));
    token.cancel();
    const auto view = running.get();
    if (view.ok()) continue;
    BOOST_TEST_REQUIRE((view.error().code() == Errc::kCancelled), describe(view));
    const NextOwner owner(pair.nodes.requester().memory(), bytes);
    BOOST_TEST_REQUIRE(
        comes_true([&] { return pair.nodes.fetch(*pair.peer, pair.nodes.keys()).ok(); }));
    late += owner.late_bytes();
    fenced += has_new_queue_pairs(before) ? 1 : 0;
  }
  fmt::print("{} of {} reads fenced, {} late bytes\n", fenced, rounds, late);
  BOOST_TEST(fenced >= kLeastFenced);
  BOOST_TEST(late == 0U);
  BOOST_TEST(pair.outstanding() == 0U);
  BOOST_TEST(pair.nodes.requester().memory().quarantined_chunks() == 0U);
  pair.check_reads();
}

/// What the fence of one read flushes of the others is posted again (contract 6).
BOOST_AUTO_TEST_CASE(one_of_eight_reads_is_fenced_and_seven_commit) {
  constexpr std::size_t kVictim = 3;
  VerbsNodes pair(fenced_shape(64));
  const std::uint64_t all = 8 * 64 * pair.nodes.layout()->block_bytes();
  bool fenced = false;
  std::size_t rounds = 0;
  // Which of them is how far when all have begun is chance.
  for (; rounds < kMostRounds && !fenced; ++rounds) {
    pair.connect_anew();
    const auto before = queue_pairs();
    CancelToken token;
    std::vector<Reading> running;
    for (std::size_t i = 0; i < 8; ++i) {
      FetchOptions options;
      if (i == kVictim) options.cancel = token;
      running.push_back(pair.nodes.start(*pair.peer, options));
    }
    BOOST_REQUIRE(comes_true(
        [&] { return pair.outstanding() >= all || VerbsNodes::ended(running.front()); }));
    token.cancel();
    const auto cancelled = running[kVictim].get();
    for (std::size_t i = 0; i < running.size(); ++i) {
      if (i == kVictim) continue;
      const auto view = running[i].get();
      BOOST_REQUIRE_MESSAGE(view.ok(), describe(view));
      BOOST_TEST(pair.nodes.mismatches(*view) == 0U);
    }
    if (cancelled.ok()) continue;
    BOOST_TEST((cancelled.error().code() == Errc::kCancelled), describe(cancelled));
    fenced = has_new_queue_pairs(before);
  }
  fmt::print("one of eight reads was fenced in round {}\n", rounds);
  BOOST_TEST(fenced);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
