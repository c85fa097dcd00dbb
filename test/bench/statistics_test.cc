#include "apps/p2p_bench/statistics.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>

#include "engine/base/random.h"

namespace corail::bench {
namespace {

/// Counts instead of indexing: the smallest value that at least percent of all do not exceed.
double reference_percentile(const std::vector<double>& values, double percent) {
  double best = *std::max_element(values.begin(), values.end());
  for (const double candidate : values) {
    const auto covered = static_cast<double>(
        std::count_if(values.begin(), values.end(), [&](double v) { return v <= candidate; }));
    const bool enough = covered * 100.0 >= percent * static_cast<double>(values.size());
    if (enough) best = std::min(best, candidate);
  }
  return best;
}

BOOST_AUTO_TEST_SUITE(statistics)

BOOST_AUTO_TEST_CASE(agrees_with_a_counting_reference) {
  SeededRandom random(7);
  for (std::size_t round = 0; round < 300; ++round) {
    std::vector<double> values;
    const std::size_t count = 1 + random.below(250);
    for (std::size_t i = 0; i < count; ++i) {
      values.push_back(static_cast<double>(random.below(100)));
    }
    const Statistics found = statistics_of(values);
    BOOST_TEST(found.p50 == reference_percentile(values, 50));
    BOOST_TEST(found.p99 == reference_percentile(values, 99));
    BOOST_TEST(found.min == *std::min_element(values.begin(), values.end()));
    BOOST_TEST(found.max == *std::max_element(values.begin(), values.end()));
    const auto below =
        std::count_if(values.begin(), values.end(), [&](double v) { return v < found.median; });
    const auto above =
        std::count_if(values.begin(), values.end(), [&](double v) { return v > found.median; });
    BOOST_TEST(static_cast<std::size_t>(std::max(below, above)) * 2 <= count);
  }
}

BOOST_AUTO_TEST_CASE(median_of_an_even_number_is_between_the_middle_two) {
  BOOST_TEST(statistics_of({4, 1, 3, 2}).median == 2.5);
  BOOST_TEST(statistics_of({4, 1, 3, 2}).p50 == 2.0);
  BOOST_TEST(statistics_of({9, 1, 5}).median == 5.0);
}

BOOST_AUTO_TEST_CASE(nothing_measured_is_all_zero) {
  const Statistics none = statistics_of({});
  BOOST_TEST(none.median == 0.0);
  BOOST_TEST(none.p99 == 0.0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::bench
