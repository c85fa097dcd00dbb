#include "engine/base/log_histogram.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdint>
#include <vector>

#include "engine/base/random.h"

namespace corail {
namespace {

/// Of any size: as many of few nanoseconds as of years.
std::vector<Duration> some_durations(SeededRandom& random, std::size_t count) {
  std::vector<Duration> values;
  for (std::size_t i = 0; i < count; ++i) {
    values.emplace_back(static_cast<std::int64_t>(random.next() >> (1 + random.below(63))));
  }
  return values;
}

LogHistogram histogram_of(const std::vector<Duration>& values) {
  LogHistogram made;
  for (const Duration value : values) made.add(value);
  return made;
}

BOOST_AUTO_TEST_SUITE(log_histogram)

BOOST_AUTO_TEST_CASE(quantiles_are_never_below_the_truth_and_at_most_a_part_above) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SeededRandom random(seed);
    auto values = some_durations(random, 1 + random.below(300));
    const LogHistogram histogram = histogram_of(values);
    std::ranges::sort(values);
    BOOST_REQUIRE_EQUAL(histogram.count(), values.size());
    BOOST_REQUIRE((histogram.max() == values.back()));
    for (const double part : {0.0, 0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
      const auto rank = static_cast<std::size_t>(
          std::max(std::ceil(part * static_cast<double>(values.size())), 1.0));
      const auto truth = values[rank - 1].count();
      const auto told = histogram.quantile(part).count();
      BOOST_REQUIRE_GE(told, truth);
      BOOST_REQUIRE_LE(told - truth, truth / static_cast<std::int64_t>(LogHistogram::kParts));
    }
  }
}

BOOST_AUTO_TEST_CASE(one_value_of_each_size_is_told_as_it_is) {
  for (int bit = 0; bit < 63; ++bit) {
    for (const std::int64_t off : {-1, 0, 1}) {
      const Duration value((std::int64_t{1} << bit) + off);
      LogHistogram histogram;
      histogram.add(value);
      BOOST_TEST((histogram.quantile(0.5) == value));
    }
  }
  LogHistogram longest;
  longest.add(Duration::max());
  BOOST_TEST((longest.quantile(1) == Duration::max()));
}

BOOST_AUTO_TEST_CASE(merging_is_as_if_one_had_counted_all) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SeededRandom random(seed);
    const auto first = some_durations(random, random.below(100));
    const auto second = some_durations(random, random.below(100));
    LogHistogram merged = histogram_of(first);
    merged.merge(histogram_of(second));
    auto all = first;
    all.insert(all.end(), second.begin(), second.end());
    const LogHistogram whole = histogram_of(all);
    BOOST_REQUIRE_EQUAL(merged.count(), whole.count());
    BOOST_REQUIRE((merged.max() == whole.max()));
    for (const double part : {0.0, 0.5, 0.99, 1.0}) {
      BOOST_REQUIRE((merged.quantile(part) == whole.quantile(part)));
    }
    const double mean = static_cast<double>(whole.mean().count());
    BOOST_REQUIRE_LE(std::abs(static_cast<double>(merged.mean().count()) - mean), 1 + 1e-9 * mean);
  }
}

BOOST_AUTO_TEST_CASE(nothing_and_less_than_nothing) {
  LogHistogram histogram;
  BOOST_TEST((histogram.quantile(0.5) == Duration(0)));
  BOOST_TEST((histogram.mean() == Duration(0)));
  histogram.add(Duration(-5));
  BOOST_TEST(histogram.count() == 1U);
  BOOST_TEST((histogram.quantile(1) == Duration(0)));
  histogram.add(Duration(9));
  BOOST_TEST((histogram.quantile(0) == Duration(0)));
  BOOST_TEST((histogram.mean() == Duration(4)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
