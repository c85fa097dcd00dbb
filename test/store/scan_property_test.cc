#include <boost/test/unit_test.hpp>
#include <cstdint>

#include "test/store/random_store.h"

namespace corail::testing {
namespace {

BOOST_AUTO_TEST_SUITE(scan)

BOOST_AUTO_TEST_CASE(the_answer_is_what_asking_for_every_segment_gives) {
  std::uint64_t blocks = 0;
  std::uint64_t evicted = 0;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      RandomStore world(seed);
      for (int i = 0; i < 250; ++i) world.step();
      blocks += world.blocks_answered();
      evicted += world.evicted();
      world.finish();
    }
  }
  // The property says nothing unless there was something to say it about.
  BOOST_TEST(blocks > 8'000U);
  BOOST_TEST(evicted > 1'000U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::testing
