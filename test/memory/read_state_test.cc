#include "engine/memory/read_state.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>

namespace corail {
namespace {

BOOST_AUTO_TEST_SUITE(read_state)

BOOST_AUTO_TEST_CASE(commits_once_and_then_cannot_be_cancelled) {
  ReadState state;
  const EpochNumber epoch = state.epoch();
  BOOST_TEST(state.is_live(epoch));
  BOOST_TEST(!state.commit(epoch));  // not before begin_commit
  BOOST_TEST(state.begin_commit(epoch));
  BOOST_TEST(!state.begin_commit(epoch));
  BOOST_TEST(state.is_live(epoch));
  BOOST_TEST(state.commit(epoch));
  BOOST_TEST(!state.commit(epoch));
  BOOST_TEST(!state.try_cancel());
  BOOST_TEST((state.phase() == ReadPhase::kCommitted));
  BOOST_TEST((state.epoch() == epoch));
}

BOOST_AUTO_TEST_CASE(a_cancel_ends_it_from_live_and_from_committing) {
  for (const bool committing : {false, true}) {
    ReadState state;
    const EpochNumber epoch = state.epoch();
    if (committing) BOOST_TEST(state.begin_commit(epoch));
    BOOST_TEST(state.try_cancel());
    BOOST_TEST(state.try_cancel());  // still the truth
    BOOST_TEST((state.phase() == ReadPhase::kCancelled));
    BOOST_TEST((state.epoch() != epoch));
    BOOST_TEST(!state.is_live(epoch));
    BOOST_TEST(!state.begin_commit(epoch));
    BOOST_TEST(!state.begin_commit(state.epoch()));
    BOOST_TEST(!state.commit(epoch));
    BOOST_TEST(!state.commit(state.epoch()));
  }
}

BOOST_AUTO_TEST_CASE(of_a_race_of_commit_and_cancel_exactly_one_wins) {
  int both = 0;
  int neither = 0;
  for (int round = 0; round < 800; ++round) {
    ReadState state;
    const EpochNumber epoch = state.epoch();
    std::atomic<bool> go{false};
    bool cancelled = false;
    std::thread canceller([&] {
      while (!go) std::this_thread::yield();
      cancelled = state.try_cancel();
    });
    go = true;
    const bool began = state.begin_commit(epoch);
    const bool committed = began && state.commit(epoch);
    canceller.join();
    if (cancelled && committed) ++both;
    if (!cancelled && !committed) ++neither;
  }
  BOOST_TEST(both == 0);
  BOOST_TEST(neither == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
