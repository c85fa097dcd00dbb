#include "engine/object/placement.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <map>

namespace corail::test {
namespace {

BOOST_AUTO_TEST_SUITE(placement)

// On each device the stripes lie back to back, in order: no byte is shared, none is between them.
BOOST_AUTO_TEST_CASE(round_robin_fills_each_device_without_gap_or_overlap) {
  for (const std::uint32_t devices : {1U, 2U, 3U, 8U}) {
    std::map<std::uint32_t, std::uint64_t> next;
    for (std::uint32_t i = 0; i < 50; ++i) {
      const StripePlace place = round_robin_place(i, 4 * kGranuleBytes, devices);
      BOOST_TEST(place.device == i % devices);
      BOOST_TEST(place.offset == next[place.device]);
      next[place.device] += 4 * kGranuleBytes;
    }
    BOOST_TEST(next.size() == devices);
    BOOST_TEST(next.begin()->second - next.rbegin()->second <= 4 * kGranuleBytes);
  }
}

BOOST_AUTO_TEST_CASE(the_last_stripe_and_granule_may_be_short) {
  BOOST_TEST(stripe_length(2 * kMiB, kMiB, 1) == kMiB);
  BOOST_TEST(stripe_length(2 * kMiB + 1, kMiB, 1) == kMiB);
  BOOST_TEST(stripe_length(2 * kMiB + 1, kMiB, 2) == 1U);
  BOOST_TEST(granules_of(0) == 0U);
  BOOST_TEST(granules_of(1) == 1U);
  BOOST_TEST(granules_of(kGranuleBytes) == 1U);
  BOOST_TEST(granules_of(kGranuleBytes + 1) == 2U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
