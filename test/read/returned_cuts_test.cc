#include "engine/read/returned_cuts.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "test/support/held_blocks.h"

namespace corail::test {
namespace {

constexpr std::uint64_t kLane = 16 * kKiB;

BOOST_AUTO_TEST_SUITE(returned_cuts)

BOOST_AUTO_TEST_CASE(each_byte_comes_out_once_cut_as_small_as_the_taker_needs) {
  const HeldBlocks held(HeldShape{}, 1);  // 8 blocks of 4 lanes, in two regions
  const auto plan = held.plan(held.all(), PlanLimits());
  ReturnedCuts returned(*plan);
  BOOST_TEST(!returned.take(kMiB).has_value());
  const std::vector<LostCut> cuts{{0, 4 * kLane}, {5 * kLane, 2 * kLane}};
  returned.give_back(cuts);
  BOOST_TEST(returned.bytes() == 6 * kLane);
  BOOST_TEST(!returned.take(0).has_value());
  std::vector<int> times(8, 0);
  while (const auto cut = returned.take(kLane + kLane / 2)) {
    // On segment borders, as the cursor's are.
    BOOST_TEST(cut->length == kLane);
    BOOST_TEST(cut->linear % kLane == 0U);
    BOOST_TEST_REQUIRE(cut->span != nullptr);
    BOOST_TEST(cut->linear >= cut->span->linear);
    BOOST_TEST(cut->linear + cut->length <= cut->span->linear + cut->span->length);
    ++times[cut->linear / kLane];
  }
  const std::vector<int> expected{1, 1, 1, 1, 0, 1, 1, 0};
  BOOST_TEST(times == expected);
  BOOST_TEST(returned.bytes() == 0U);
}

BOOST_AUTO_TEST_CASE(what_fits_comes_out_as_it_went_in) {
  const HeldBlocks held(HeldShape{}, 1);
  const auto plan = held.plan(held.all(), PlanLimits());
  ReturnedCuts returned(*plan);
  const std::vector<LostCut> cuts{{kLane / 2, kLane}};
  returned.give_back(cuts);
  const auto cut = returned.take(kMiB);
  BOOST_TEST_REQUIRE(cut.has_value());
  BOOST_TEST(cut->linear == kLane / 2);
  BOOST_TEST(cut->length == kLane);
  BOOST_TEST(!returned.take(kMiB).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
