#include "bench/rail_sweep/sweep_row.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/units.h"

namespace corail::bench {
namespace {

constexpr std::uint64_t kStripe = 4 * kMiB;
constexpr std::uint64_t kRate = 125'000'000;

BOOST_AUTO_TEST_SUITE(sweep_row)

BOOST_AUTO_TEST_CASE(rails_cycle_through_what_was_given) {
  const std::vector<std::uint64_t> given = {50, 100, 200};
  const std::vector<std::uint64_t> two = {50, 100};
  const std::vector<std::uint64_t> five = {50, 100, 200, 50, 100};
  BOOST_TEST(cycled(given, 2) == two);
  BOOST_TEST(cycled(given, 5) == five);
}

BOOST_AUTO_TEST_CASE(whole_stripes_give_what_the_fullest_rail_leaves) {
  // 16 stripes over 3 rails: one has 6 of them.
  const std::vector<std::uint64_t> three(3, kRate);
  BOOST_TEST(whole_stripe_rate(16 * kStripe, kStripe, three) == 16.0 / 6 * kRate,
             boost::test_tools::tolerance(1e-9));
  const std::vector<std::uint64_t> eight(8, kRate);
  BOOST_TEST(whole_stripe_rate(16 * kStripe, kStripe, eight) == 8.0 * kRate,
             boost::test_tools::tolerance(1e-9));
  // A short last stripe, on the rail that is free first.
  BOOST_TEST(whole_stripe_rate(3 * kStripe / 2, kStripe, std::vector<std::uint64_t>(2, kRate)) ==
                 1.5 * kRate,
             boost::test_tools::tolerance(1e-9));
  // The slow rail's only stripe takes as long as four on the fast one.
  BOOST_TEST(whole_stripe_rate(5 * kStripe, kStripe,
                               std::vector<std::uint64_t>{kRate, 4 * kRate}) == 5.0 * kRate,
             boost::test_tools::tolerance(1e-9));
}

BOOST_AUTO_TEST_CASE(a_row_is_arithmetic_over_one_time) {
  const std::vector<std::uint64_t> rails = {50'000'000, 150'000'000};
  const SweepRow row = row_of(100'000'000, 1'000'000, rails, 0.625);
  const auto close = boost::test_tools::tolerance(1e-9);
  BOOST_TEST(row.rails == 2U);
  BOOST_TEST(row.aggregate == 160.0, close);
  BOOST_TEST(row.theoretical == 200.0, close);
  BOOST_TEST(row.balanced == 200.0, close);
  BOOST_TEST(row.speedup == 3.2, close);
  BOOST_TEST(row.efficiency == 0.8, close);
}

BOOST_AUTO_TEST_CASE(json_and_picture_have_every_row) {
  std::vector<SweepRow> rows;
  for (const std::uint32_t rails : {1U, 2U, 8U}) {
    rows.push_back(row_of(64 * kMiB, kStripe, std::vector<std::uint64_t>(rails, kRate), 0.5));
  }
  rows[1].attribution.bottleneck = Bottleneck::kNetwork;
  const auto json = rows_json(rows);
  BOOST_TEST_REQUIRE(json.size() == 3U);
  BOOST_TEST(json[2]["rails"] == 8U);
  BOOST_TEST(json[1]["bottleneck"] == "network");
  for (const char* key : {"agg_mb_s", "bal_mb_s", "theo_mb_s", "speedup", "efficiency"}) {
    BOOST_TEST(json[0][key].is_number(), key);
  }
  const std::string svg = rows_svg(rows);
  std::size_t dots = 0;
  for (std::size_t at = 0; (at = svg.find("<circle", at)) != std::string::npos; ++at) ++dots;
  BOOST_TEST(dots == 9U);
  for (const char* words : {"MB/s", "rails", "aggregate", "whole stripes", "theoretical"}) {
    BOOST_TEST(svg.find(words) != std::string::npos, words);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::bench
