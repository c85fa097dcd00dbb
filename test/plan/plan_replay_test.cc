#include <boost/test/unit_test.hpp>
#include <string>

#include "engine/base/random.h"
#include "engine/plan/block_plan.h"
#include "test/plan/part_scenario.h"
#include "test/plan/plan_checks.h"
#include "test/plan/scenario.h"

namespace corail::testing {
namespace {

constexpr std::uint64_t kScenarios = 800;

PlanLimits random_limits(const Scenario& scenario, Random& random) {
  PlanLimits limits;
  std::uint64_t largest = 0;
  for (const std::uint32_t bytes : scenario.layout->lane_bytes()) {
    largest = std::max<std::uint64_t>(largest, bytes);
  }
  limits.max_read_bytes = 1 + random.below(random.below(2) == 0 ? 64 : 2000);
  limits.max_chunk_bytes = largest + random.below(random.below(2) == 0 ? 64 : 4000);
  return limits;
}

LaneRange random_lanes(const Scenario& scenario, Random& random) {
  if (random.below(2) == 0) return {};
  LaneRange lanes;
  lanes.begin = static_cast<std::uint32_t>(random.below(scenario.layout->lanes()));
  lanes.end = lanes.begin + 1 + static_cast<std::uint32_t>(random.below(scenario.layout->lanes()));
  return lanes;
}

/// All checks on one scenario, read as this table says; empty, or what is wrong with which seed.
template <typename Table>
std::string replay(std::uint64_t seed, const Scenario& scenario, const Table& table) {
  SeededRandom random(seed ^ 0xABCD);
  const PlanLimits limits = random_limits(scenario, random);
  auto plan = plan_block_read(table, scenario.layout, scenario.blocks, scenario.regions, limits,
                              random_lanes(scenario, random));
  const std::string name = "seed " + std::to_string(seed) + ": ";
  if (!plan) return name + plan.error().to_string();
  for (const std::string& wrong :
       {check_replay(scenario, *plan), check_spans(scenario, *plan, limits),
        check_cuts(scenario, *plan), check_segments(*plan, 0, plan->total_bytes())}) {
    if (!wrong.empty()) return name + wrong;
  }
  for (int i = 0; i < 10; ++i) {
    const std::uint64_t from = random.below(plan->total_bytes() + 1);
    const std::uint64_t to = random.below(plan->total_bytes() + 1);
    const std::string wrong = check_segments(*plan, from, to);
    if (!wrong.empty()) return name + wrong;
  }
  return {};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(plan_replay)

BOOST_AUTO_TEST_CASE(reads_and_runs_agree_on_every_segment_of_random_layouts) {
  for (std::uint64_t seed = 1; seed <= kScenarios; ++seed) {
    const Scenario scenario = random_scenario(seed);
    const std::string wrong = replay(seed, scenario, scenario.runs);
    BOOST_REQUIRE_MESSAGE(wrong.empty(), wrong);
  }
}

BOOST_AUTO_TEST_CASE(reads_and_parts_agree_on_every_segment_of_random_layouts) {
  for (std::uint64_t seed = 1; seed <= kScenarios; ++seed) {
    const Scenario scenario = random_scenario(seed);
    const std::string wrong = replay(seed, scenario, random_parts(scenario, seed));
    BOOST_REQUIRE_MESSAGE(wrong.empty(), wrong);
  }
}

BOOST_AUTO_TEST_CASE(parts_and_runs_are_two_ways_of_saying_the_same) {
  for (std::uint64_t seed = 1; seed <= kScenarios; ++seed) {
    const Scenario scenario = random_scenario(seed);
    const RunTable runs = expand(random_parts(scenario, seed), *scenario.layout);
    for (std::uint32_t lane = 0; lane < scenario.layout->lanes(); ++lane) {
      BOOST_REQUIRE(expand_lane(runs, lane) == scenario.addresses[lane]);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_builder_round_trips_and_its_tables_are_valid) {
  for (std::uint64_t seed = 1; seed <= kScenarios; ++seed) {
    const Scenario scenario = random_scenario(seed);
    for (const RunTable& runs : {scenario.runs, encode(scenario.addresses, &scenario.regions)}) {
      const auto valid = validate(runs, *scenario.layout, scenario.blocks, RunLimits{});
      BOOST_REQUIRE_MESSAGE(valid.ok(), "seed " << seed);
      for (std::uint32_t lane = 0; lane < scenario.layout->lanes(); ++lane) {
        BOOST_REQUIRE(expand_lane(runs, lane) == scenario.addresses[lane]);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(mutated_part_tables_are_refused_or_read_within_the_regions) {
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 1; seed <= 3 * kScenarios; ++seed) {
    Scenario scenario = random_scenario(seed % kScenarios + 1);
    PartTable parts = random_parts(scenario, seed);
    mutate(parts, seed * 77);
    const PlanLimits limits;
    auto plan = plan_block_read(parts, scenario.layout, scenario.blocks, scenario.regions, limits);
    if (!plan) {
      ++refused;
      BOOST_REQUIRE(plan.error().code() == Errc::kBadRunTable ||
                    plan.error().code() == Errc::kTooLarge);
      continue;
    }
    // What is accepted is a consistent table: it reads what it says, within the regions.
    const RunTable runs = expand(parts, *scenario.layout);
    for (std::uint32_t lane = 0; lane < scenario.layout->lanes(); ++lane) {
      scenario.addresses[lane] = expand_lane(runs, lane);
    }
    const std::string wrong = check_replay(scenario, *plan) + check_spans(scenario, *plan, limits);
    BOOST_REQUIRE_MESSAGE(wrong.empty(), "seed " << seed << ": " << wrong);
  }
  BOOST_TEST(refused > kScenarios);
}

BOOST_AUTO_TEST_CASE(a_range_without_a_lane_is_the_callers_mistake) {
  const Scenario scenario = random_scenario(1);
  const std::uint32_t lanes = scenario.layout->lanes();
  for (const LaneRange range : {LaneRange{0, 0}, LaneRange{lanes, lanes + 1}, LaneRange{2, 1}}) {
    const auto plan = plan_block_read(scenario.runs, scenario.layout, scenario.blocks,
                                      scenario.regions, PlanLimits{}, range);
    BOOST_REQUIRE(!plan);
    BOOST_TEST((plan.error().code() == Errc::kInvalidArgument));
  }
}

BOOST_AUTO_TEST_CASE(mutated_tables_are_refused_or_read_within_the_regions) {
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 1; seed <= 3 * kScenarios; ++seed) {
    Scenario scenario = random_scenario(seed % kScenarios + 1);
    SeededRandom random(seed * 77);
    const std::size_t run = random.below(scenario.runs.runs());
    const std::uint64_t odd[] = {0, 1, ~0ULL, 1ULL << 63, random.next(), random.below(4000)};
    const std::uint64_t value = odd[random.below(std::size(odd))];
    switch (random.below(5)) {
      case 0:
        scenario.runs.base[run] = value;
        break;
      case 1:
        scenario.runs.stride[run] = static_cast<std::int64_t>(value);
        break;
      case 2:
        scenario.runs.count[run] = static_cast<std::uint32_t>(value);
        break;
      case 3:
        scenario.runs.runs_per_lane[random.below(scenario.layout->lanes())] =
            static_cast<std::uint32_t>(value);
        break;
      default:
        scenario.runs.base[run] += value % 3 - 1;
        break;
    }
    const PlanLimits limits;
    auto plan =
        plan_block_read(scenario.runs, scenario.layout, scenario.blocks, scenario.regions, limits);
    if (!plan) {
      ++refused;
      BOOST_REQUIRE(plan.error().code() == Errc::kBadRunTable);
      continue;
    }
    // What is accepted is a consistent table: it reads what it says, within the regions.
    for (std::uint32_t lane = 0; lane < scenario.layout->lanes(); ++lane) {
      scenario.addresses[lane] = expand_lane(scenario.runs, lane);
    }
    const std::string wrong = check_replay(scenario, *plan) + check_spans(scenario, *plan, limits);
    BOOST_REQUIRE_MESSAGE(wrong.empty(), "seed " << seed << ": " << wrong);
  }
  BOOST_TEST(refused > kScenarios);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace corail::testing
