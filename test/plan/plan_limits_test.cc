#include <boost/test/unit_test.hpp>
#include <limits>
#include <vector>

#include "engine/plan/block_plan.h"
#include "test/plan/plan_checks.h"
#include "test/plan/scenario.h"

namespace corail::testing {
namespace {

constexpr auto kLowest = std::numeric_limits<std::int64_t>::min();

Result<BlockPlan> plan(const Scenario& scenario, const PlanLimits& limits = {}) {
  return plan_block_read(scenario.runs, scenario.layout, scenario.blocks, scenario.regions, limits);
}

/// One lane of `bytes` a segment, at the given addresses.
Scenario lane_at(std::uint32_t bytes, std::vector<std::uint64_t> addresses, RegionTable regions) {
  Scenario scenario;
  scenario.layout = uniform_layout(1, bytes, 0);
  scenario.blocks = static_cast<std::uint32_t>(addresses.size());
  scenario.addresses = {std::move(addresses)};
  scenario.runs = encode(scenario.addresses, &regions);
  scenario.regions = std::move(regions);
  return scenario;
}

RegionTable regions_at(const std::vector<std::pair<std::uint64_t, std::uint64_t>>& ranges) {
  std::vector<Region> regions;
  for (std::uint32_t i = 0; i < ranges.size(); ++i) {
    Region region;
    region.id = RegionId(i + 1);
    region.base = ranges[i].first;
    region.length = ranges[i].second;
    region.numa_node = static_cast<std::int32_t>(i);
    regions.push_back(region);
  }
  return RegionTable::make(TableGeneration(1), std::move(regions)).value();
}

std::optional<Errc> code(const Result<BlockPlan>& made) {
  if (made) return std::nullopt;
  return made.error().code();
}

std::string check(const Scenario& scenario, const BlockPlan& made, const PlanLimits& limits) {
  return check_replay(scenario, made) + check_spans(scenario, made, limits) +
         check_cuts(scenario, made);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(plan_limits)

BOOST_AUTO_TEST_CASE(touching_regions_are_never_fused) {
  const RegionTable regions = regions_at({{1000, 1000}, {2000, 1000}});
  const Scenario scenario = lane_at(100, {1800, 1900, 2000, 2100}, regions);
  const auto made = plan(scenario);
  BOOST_REQUIRE(made.ok());
  BOOST_TEST(made->spans().size() == 2U);
  BOOST_TEST(made->chunks().size() == 2U);
  BOOST_TEST(made->chunks()[1].numa_node == 1);
  BOOST_TEST(check(scenario, *made, PlanLimits{}).empty());
}

BOOST_AUTO_TEST_CASE(lanes_that_abut_over_a_border_are_not_fused) {
  Scenario scenario;
  scenario.layout = uniform_layout(1, 100, 100);
  scenario.blocks = 1;
  scenario.addresses = {{1900}, {2000}};
  scenario.regions = regions_at({{1000, 1000}, {2000, 1000}});
  scenario.runs = encode(scenario.addresses, &scenario.regions);
  const auto made = plan(scenario);
  BOOST_REQUIRE(made.ok());
  BOOST_TEST(made->spans().size() == 2U);
  BOOST_TEST(check(scenario, *made, PlanLimits{}).empty());
}

BOOST_AUTO_TEST_CASE(a_run_or_segment_across_a_border_is_refused) {
  const RegionTable regions = regions_at({{1000, 1000}, {2000, 1000}});
  Scenario scenario = lane_at(100, {1800, 1900, 2000, 2100}, regions);
  scenario.runs = encode(scenario.addresses, nullptr);  // one run over both
  BOOST_TEST((code(plan(scenario)) == Errc::kBadRunTable));
  for (const std::uint64_t address : {900U, 901U, 999U, 1901U, 2901U, 3000U}) {
    BOOST_TEST((code(plan(lane_at(100, {address}, regions))) == Errc::kBadRunTable));
  }
  for (const std::uint64_t address : {1000U, 1900U, 2000U, 2900U}) {
    BOOST_TEST(plan(lane_at(100, {address}, regions)).ok());
  }
  BOOST_TEST((code(plan(lane_at(100, {1000}, RegionTable{}))) == Errc::kBadRunTable));
}

BOOST_AUTO_TEST_CASE(a_byte_demanded_twice_is_refused) {
  const RegionTable region = one_region(0, 1 << 20);
  for (const std::uint64_t other : {1000U, 1001U, 1099U, 901U}) {
    // Between blocks of one lane ...
    const Scenario lane = lane_at(100, {1000, 5000, other}, region);
    BOOST_TEST((code(plan(lane)) == Errc::kBadRunTable));
    // ... and between lanes.
    Scenario scenario;
    scenario.layout = uniform_layout(1, 100, 100);
    scenario.blocks = 1;
    scenario.addresses = {{1000}, {other}};
    scenario.regions = region;
    scenario.runs = encode(scenario.addresses, &region);
    BOOST_TEST((code(plan(scenario)) == Errc::kBadRunTable));
  }
  // Two lanes that abut, with a stride of one segment: row i of the one is row i + 1 of the other.
  Scenario woven;
  woven.layout = uniform_layout(1, 100, 100);
  woven.blocks = 3;
  woven.addresses = {{1000, 1100, 1200}, {1100, 1200, 1300}};
  woven.regions = region;
  woven.runs = encode(woven.addresses, &region);
  BOOST_TEST((code(plan(woven)) == Errc::kBadRunTable));
}

BOOST_AUTO_TEST_CASE(lanes_woven_into_each_other_become_one_read) {
  // Each lane leaves a gap that the other one fills: K at 0, 200, 400; V at 100, 300, 500.
  Scenario scenario;
  scenario.layout = uniform_layout(1, 100, 100);
  scenario.blocks = 6;
  scenario.addresses = {{0, 200, 400, 2000, 1800, 1600}, {100, 300, 500, 2100, 1900, 1700}};
  scenario.regions = one_region(0, 5000);
  scenario.runs = encode(scenario.addresses, nullptr);
  const auto made = plan(scenario);
  BOOST_REQUIRE(made.ok());
  BOOST_TEST(made->reads_planned() == 2U);
  BOOST_TEST(check(scenario, *made, PlanLimits{}).empty());
}

BOOST_AUTO_TEST_CASE(addresses_at_the_very_top_are_read) {
  const std::uint64_t base = ~std::uint64_t{0} - 1000;
  const Scenario scenario = lane_at(100, {base, base + 100, base + 900}, one_region(base, 1000));
  const auto made = plan(scenario);
  BOOST_REQUIRE(made.ok());
  BOOST_TEST(check(scenario, *made, PlanLimits{}).empty());
  const Scenario past = lane_at(100, {base + 901}, one_region(base, 1000));
  BOOST_TEST((code(plan(past)) == Errc::kBadRunTable));
}

BOOST_AUTO_TEST_CASE(totals_runs_and_intervals_are_capped) {
  std::vector<std::uint64_t> scattered;
  for (std::uint64_t i = 0; i < 20; ++i) scattered.push_back(1000 * i * i);
  const Scenario scenario = lane_at(100, scattered, one_region(0, 1 << 20));
  PlanLimits limits;
  limits.max_total_bytes = 1999;
  BOOST_TEST((code(plan(scenario, limits)) == Errc::kTooLarge));
  limits.max_total_bytes = 2000;
  BOOST_TEST(plan(scenario, limits).ok());
  limits.max_intervals = 19;
  BOOST_TEST((code(plan(scenario, limits)) == Errc::kTooLarge));
  limits.max_intervals = 20;
  limits.max_runs = scenario.runs.runs() - 1;
  BOOST_TEST((code(plan(scenario, limits)) == Errc::kTooLarge));
  limits.max_runs = scenario.runs.runs();
  BOOST_TEST(plan(scenario, limits).ok());
}

BOOST_AUTO_TEST_CASE(one_run_with_gaps_counts_as_many_intervals) {
  // A tiny message must not demand a plan that is out of proportion.
  const auto layout = uniform_layout(1, 1, 0);
  const RunTable runs{{1}, {0}, {2}, {1'000'000}};
  PlanLimits limits;
  limits.max_intervals = 999'999;
  const auto made = plan_block_read(runs, layout, 1'000'000, one_region(0, 1 << 30), limits);
  BOOST_TEST((code(made) == Errc::kTooLarge));
}

BOOST_AUTO_TEST_CASE(the_stride_of_a_single_address_means_nothing) {
  const auto layout = uniform_layout(2, 100, 100);
  const RunTable runs{{1, 1, 1, 1}, {1000, 1100, 1200, 1300}, {0, -5, kLowest, 7}, {1, 1, 1, 1}};
  PlanLimits limits;
  limits.max_intervals = 1;
  const auto made = plan_block_read(runs, layout, 1, one_region(0, 1 << 20), limits);
  BOOST_REQUIRE(made.ok());
  BOOST_TEST(made->reads_planned() == 1U);
}

BOOST_AUTO_TEST_CASE(the_callers_own_mistakes_are_named) {
  const Scenario scenario = lane_at(100, {1000}, one_region(0, 1 << 20));
  PlanLimits limits;
  limits.max_read_bytes = 0;
  BOOST_TEST((code(plan(scenario, limits)) == Errc::kInvalidArgument));
  limits = {};
  limits.max_chunk_bytes = 99;
  BOOST_TEST((code(plan(scenario, limits)) == Errc::kTooLarge));
  limits.max_chunk_bytes = 100;
  BOOST_TEST(plan(scenario, limits).ok());
  const auto without =
      plan_block_read(scenario.runs, nullptr, scenario.blocks, scenario.regions, PlanLimits{});
  BOOST_TEST((code(without) == Errc::kInvalidArgument));
}

BOOST_AUTO_TEST_CASE(segments_larger_than_a_read_are_cut_inside) {
  const Scenario scenario = lane_at(1000, {0, 1000, 2000, 5000}, one_region(0, 1 << 20));
  PlanLimits limits;
  limits.max_read_bytes = 300;
  limits.max_chunk_bytes = 2500;
  const auto made = plan(scenario, limits);
  BOOST_REQUIRE(made.ok());
  BOOST_TEST(made->reads_planned() == 16U);
  BOOST_TEST(made->chunks().size() == 2U);
  BOOST_TEST(check(scenario, *made, limits).empty());
}

BOOST_AUTO_TEST_CASE(a_cut_prefers_the_border_within_most) {
  const Scenario scenario = lane_at(1000, {0, 1000, 2000}, one_region(0, 1 << 20));
  const auto made = plan(scenario);
  BOOST_REQUIRE(made.ok());
  BOOST_TEST(made->cut(0, 1500) == 1000U);
  BOOST_TEST(made->cut(0, 300) == 300U);
  BOOST_TEST(made->cut(0, 300, 999) == 300U);
  BOOST_TEST(made->cut(0, 300, 1000) == 1000U);
  BOOST_TEST(made->cut(1200, 300, 800) == 2000U);
  BOOST_TEST(made->cut(1200, 5000) == 3000U);
  BOOST_TEST(made->cut(1200, 1799) == 2000U);
}

BOOST_AUTO_TEST_CASE(the_worst_case_is_a_read_per_segment) {
  Scenario scenario;
  scenario.layout = uniform_layout(4, 64, 64);
  scenario.blocks = 50;
  scenario.addresses.resize(8);
  for (std::uint64_t i = 0; i < 400; ++i) {
    scenario.addresses[i % 8].push_back(((i * 7919) % 400) * 65);
  }
  scenario.regions = one_region(0, 1 << 20);
  scenario.runs = encode(scenario.addresses, nullptr);
  const auto made = plan(scenario);
  BOOST_REQUIRE(made.ok());
  BOOST_TEST(made->reads_planned() == 400U);
  BOOST_TEST(check(scenario, *made, PlanLimits{}).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace corail::testing
