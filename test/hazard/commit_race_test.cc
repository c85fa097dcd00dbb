#include <fmt/core.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <thread>

#include "engine/base/random.h"
#include "test/support/repetitions.h"
#include "test/support/threaded_rig.h"

// A cancel and a commit meet on real threads. One of them wins, and the memory goes the same way.

namespace corail::test {
namespace {

/// Not optimised away, nor longer than it says.
void spin(std::uint64_t turns) {
  for (std::atomic<std::uint64_t> left{turns}; left > 0; --left) {
  }
}

BOOST_AUTO_TEST_SUITE(commit_race)

BOOST_AUTO_TEST_CASE(exactly_one_wins_and_the_memory_agrees) {
  constexpr int kRounds = repetitions(400);
  constexpr std::uint64_t kMostTurns = 3000;
  HeldShape shape;
  shape.blocks = 2;
  ThreadedRig rig(shape, FaultScript());
  SeededRandom random(11);
  int committed = 0;
  int cancelled = 0;
  for (int round = 0; round < kRounds; ++round) {
    CancelToken token;
    const auto read = rig.make(token, false);
    // The owner is asked a moment before the commit: both set out from there.
    std::atomic<bool> asked{false};
    const std::uint64_t commits_after = random.below(kMostTurns);
    const std::uint64_t cancels_after = random.below(kMostTurns);
    rig.owner.on_confirm = [&] {
      asked = true;
      spin(commits_after);
    };
    std::thread canceller([&] {
      while (!asked) {
      }
      spin(cancels_after);
      token.cancel();
    });
    const auto result = rig.run(*read);
    // What the reader has now, it keeps, however late the cancel comes.
    const bool right_before = result.ok() && !read->difference_to(rig.held);
    canceller.join();
    BOOST_TEST(result.ok() == (read->phase() == ReadPhase::kCommitted));
    BOOST_TEST(result.ok() == (read->phase() != ReadPhase::kCancelled));
    if (result.ok()) {
      ++committed;
      BOOST_TEST(right_before);
      BOOST_TEST(read->difference_to(rig.held).value_or("") == "");
    } else {
      ++cancelled;
      BOOST_TEST((result.error().code() == Errc::kCancelled), text_of(result));
      BOOST_TEST(read->late_bytes() == 0U);
    }
  }
  rig.owner.on_confirm = nullptr;
  fmt::print("cancel and commit raced {} times: {} committed, {} cancelled\n", kRounds, committed,
             cancelled);
  BOOST_TEST(committed + cancelled == kRounds);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
