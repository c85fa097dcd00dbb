#include "engine/plan/slice_cursor.h"

#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/random.h"
#include "test/plan/scenario.h"

namespace corail::testing {
namespace {

BlockPlan plan_of(const Scenario& scenario, const PlanLimits& limits) {
  return plan_block_read(scenario.runs, scenario.layout, scenario.blocks, scenario.regions, limits)
      .value();
}

/// The cuts of all rails, sorted: they must tile the space, each inside the span it names.
std::string check_tiling(const BlockPlan& plan, std::vector<SliceCursor::Cut> cuts) {
  std::sort(cuts.begin(), cuts.end(), [](const SliceCursor::Cut& a, const SliceCursor::Cut& b) {
    return a.linear < b.linear;
  });
  std::uint64_t linear = 0;
  for (const SliceCursor::Cut& cut : cuts) {
    if (cut.linear != linear || cut.length == 0) return "a gap or an overlap";
    if (cut.span != &plan.span_at(cut.linear)) return "a wrong span";
    if (cut.linear + cut.length > cut.span->linear + cut.span->length) return "a span is crossed";
    linear += cut.length;
  }
  return linear == plan.total_bytes() ? "" : "the end is missing";
}

/// A slice ends inside a segment only if that segment is larger than a slice.
std::string check_borders(const BlockPlan& plan, const std::vector<SliceCursor::Cut>& cuts,
                          std::uint64_t most) {
  std::string wrong;
  for (const SliceCursor::Cut& cut : cuts) {
    const std::uint64_t end = cut.linear + cut.length;
    plan.for_each_segment(
        cut.linear, end,
        [&](std::uint32_t, std::uint32_t, std::uint64_t linear, std::uint32_t bytes) {
          if (linear + bytes > end && bytes <= most) wrong = "a small segment was cut";
        });
  }
  return wrong;
}

/// Four blocks of 1 MiB, one after the other.
BlockPlan four_mib(std::uint32_t segment_bytes) {
  const auto slots = static_cast<std::uint32_t>(kMiB / segment_bytes);
  const auto layout = uniform_layout(slots, segment_bytes, 0);
  RunTable runs;
  for (std::uint32_t lane = 0; lane < slots; ++lane) {
    runs.runs_per_lane.push_back(1);
    runs.base.push_back(std::uint64_t{lane} * segment_bytes);
    runs.stride.push_back(kMiB);
    runs.count.push_back(4);
  }
  return plan_block_read(runs, layout, 4, one_region(0, 4 * kMiB), PlanLimits{}).value();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(slice_cursor)

BOOST_AUTO_TEST_CASE(slices_of_random_plans_tile_the_space) {
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    const Scenario scenario = random_scenario(seed);
    SeededRandom random(seed);
    PlanLimits limits;
    limits.max_read_bytes = 1 + random.below(500);
    const BlockPlan plan = plan_of(scenario, limits);
    const std::uint64_t max_slice = 1 + random.below(600);
    const auto rails = static_cast<std::uint32_t>(1 + random.below(8));
    SliceCursor cursor(plan, max_slice, 1 + random.below(100), rails);
    std::vector<SliceCursor::Cut> cuts;
    std::uint64_t least_limit = max_slice;
    for (;;) {
      const std::uint64_t limit = 1 + random.below(1000);
      const std::uint64_t before = cursor.remaining();
      const auto cut = cursor.take(limit);
      if (!cut) break;
      least_limit = std::min(least_limit, limit);
      BOOST_REQUIRE(cut->length <= std::min(limit, max_slice));
      BOOST_REQUIRE_EQUAL(cursor.remaining(), before - cut->length);
      cuts.push_back(*cut);
    }
    BOOST_REQUIRE_EQUAL(cursor.remaining(), 0U);
    const std::string wrong = check_tiling(plan, cuts) + check_borders(plan, cuts, least_limit);
    BOOST_REQUIRE_MESSAGE(wrong.empty(), "seed " << seed << ": " << wrong);
  }
}

BOOST_AUTO_TEST_CASE(several_threads_take_every_byte_once) {
  // Many short spans: each take moves to another one.
  constexpr std::uint32_t kSpans = 20'000;
  const auto layout = uniform_layout(1, 64, 0);
  const BlockPlan plan = plan_block_read(RunTable{{1}, {0}, {100}, {kSpans}}, layout, kSpans,
                                         one_region(0, 100 * kSpans), PlanLimits{})
                             .value();
  for (int round = 0; round < 20; ++round) {
    SliceCursor cursor(plan, 64, 1, 4);
    std::atomic<int> ready{0};
    std::vector<std::vector<SliceCursor::Cut>> taken(4);
    std::vector<std::thread> threads;
    for (auto& mine : taken) {
      threads.emplace_back([&cursor, &mine, &ready] {
        mine.reserve(kSpans);
        ready.fetch_add(1);
        while (ready.load() < 4) std::this_thread::yield();
        while (const auto cut = cursor.take(64)) mine.push_back(*cut);
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::vector<SliceCursor::Cut> all;
    for (const auto& mine : taken) all.insert(all.end(), mine.begin(), mine.end());
    const std::string wrong = check_tiling(plan, all) + check_borders(plan, all, 64);
    BOOST_REQUIRE_MESSAGE(wrong.empty(), wrong);
  }
}

BOOST_AUTO_TEST_CASE(the_last_slices_shrink_to_the_floor) {
  const BlockPlan plan = four_mib(4096);
  SliceCursor cursor(plan, kMiB, 64 * kKiB, 4);
  std::uint64_t length = kMiB;
  std::uint64_t slices = 0;
  while (const auto cut = cursor.take(kGiB)) {
    BOOST_TEST(cut->length <= length);
    BOOST_TEST((cut->length >= 64 * kKiB || cursor.remaining() == 0));
    length = cut->length;
    ++slices;
  }
  BOOST_TEST(length <= 64 * kKiB);
  BOOST_TEST(slices <= 4U + 8 * 4);
}

BOOST_AUTO_TEST_CASE(a_small_read_is_cut_once_for_each_rail) {
  const BlockPlan plan = four_mib(4096);
  SliceCursor cursor(plan, 4 * kMiB, 512 * kKiB, 4);
  for (int i = 0; i < 4; ++i) BOOST_TEST(cursor.take(kGiB)->length == kMiB);
  BOOST_TEST(!cursor.take(kGiB).has_value());
}

BOOST_AUTO_TEST_CASE(shrinking_cuts_no_segment_that_a_slice_could_hold) {
  const BlockPlan plan = four_mib(512 * 1024);
  SliceCursor cursor(plan, kMiB, 64 * kKiB, 4);
  while (const auto cut = cursor.take(kMiB)) BOOST_TEST(cut->length % (512 * kKiB) == 0U);
  // A rail that cannot take a whole segment gets a piece of it.
  SliceCursor small(plan, kMiB, 64 * kKiB, 4);
  BOOST_TEST(small.take(100'000)->length == 100'000U);
}

BOOST_AUTO_TEST_CASE(one_rail_takes_full_slices_to_the_end) {
  const BlockPlan plan = four_mib(4096);
  SliceCursor cursor(plan, kMiB, 1);
  for (int i = 0; i < 4; ++i) BOOST_TEST(cursor.take(kGiB)->length == kMiB);
  BOOST_TEST(!cursor.take(kGiB).has_value());
  BOOST_TEST(!cursor.take(0).has_value());
}

BOOST_AUTO_TEST_CASE(however_large_slices_may_be_a_rail_has_hold_of_a_part_only) {
  PlanLimits limits;
  limits.max_read_bytes = 32 * kMiB;
  const BlockPlan plan =
      plan_block_read(RunTable{{1}, {0}, {4096}, {65536}}, uniform_layout(1, 4096, 0), 65536,
                      one_region(0, 256 * kMiB), limits)
          .value();
  SliceCursor cursor(plan, 32 * kMiB, 3);
  const std::uint64_t tail_slice = cursor.remaining() / 3 / kTailPartsOfRead;
  BOOST_REQUIRE(tail_slice > kTailSliceBytes);
  std::uint64_t slices = 0;
  for (std::uint64_t left = cursor.remaining(); left > 0; left = cursor.remaining(), ++slices) {
    const std::uint64_t length = cursor.take(kGiB)->length;
    BOOST_TEST(length <= std::max(left / 3 / kTailParts,
                                  std::max(std::min(left / 3 + 1, tail_slice), kSliceFloorBytes)) +
                             4096);
  }
  BOOST_TEST(slices < 100U);
}

BOOST_AUTO_TEST_CASE(a_tail_costs_few_slices_however_large_the_read) {
  constexpr std::uint64_t kMaxSlice = 32 * kMiB;
  constexpr std::uint64_t kSegment = 16 * kKiB;
  const auto layout = uniform_layout(1, kSegment, 0);
  for (const std::uint32_t mib : {16U, 64U, 100U, 256U, 512U, 1024U, 2250U, 4096U}) {
    const std::uint32_t blocks = mib * static_cast<std::uint32_t>(kMiB / kSegment);
    const BlockPlan plan = plan_block_read(RunTable{{1}, {0}, {kSegment}, {blocks}}, layout, blocks,
                                           one_region(0, mib * kMiB), PlanLimits{})
                               .value();
    const std::uint64_t full = (mib * kMiB + kMaxSlice - 1) / kMaxSlice;
    for (std::uint32_t rails = 1; rails <= 8; ++rails) {
      SliceCursor cursor(plan, kMaxSlice, rails);
      std::uint64_t slices = 0;
      while (cursor.take(kGiB)) ++slices;
      const std::uint64_t most = mib * kMiB >= rails * kGiB / 2 ? 8 : 14;
      BOOST_TEST(slices <= full + most * rails,
                 slices << " slices of " << mib << " MiB over " << rails << " rails");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace corail::testing
