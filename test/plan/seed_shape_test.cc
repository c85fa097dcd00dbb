// The shape of the measured case: 1000 blocks of 36 layers x 8 ranks, K and V of 4 KiB each, ranks
// 0 to 3 in one region, 4 to 7 in another: 576,000 segments, 2250 MiB.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <vector>

#include "engine/base/random.h"
#include "engine/plan/block_plan.h"
#include "engine/plan/slice_cursor.h"
#include "test/plan/scenario.h"

namespace corail::testing {
namespace {

constexpr std::uint32_t kBlocks = 1000;
constexpr std::uint32_t kSegment = 4096;
constexpr std::uint32_t kLanesPerPart = 288;
constexpr std::uint64_t kPartBytes = std::uint64_t{kLanesPerPart} * kSegment;

/// Part of a lane, and its place among the part's lanes.
struct LaneOfPart {
  std::uint32_t part = 0;
  std::uint32_t index = 0;
};

LaneOfPart lane_of_part(std::uint32_t lane) {
  const std::uint32_t slot = lane / 2;
  const std::uint32_t layer = slot / 8;
  const std::uint32_t rank = slot % 8;
  return {rank / 4, (layer * 4 + rank % 4) * 2 + lane % 2};
}

RegionTable two_regions(std::uint64_t length, std::uint64_t second_base) {
  std::vector<Region> regions(2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    regions[i].id = RegionId(i + 1);
    regions[i].base = i == 0 ? 1 << 30 : second_base;
    regions[i].length = length;
    regions[i].numa_node = static_cast<std::int32_t>(i);
  }
  return RegionTable::make(TableGeneration(1), std::move(regions)).value();
}

/// `place(part, index of the lane in the part, block)` is the offset from the region's base.
template <typename Place>
Result<BlockPlan> plan_shape(const RegionTable& regions, Place place,
                             const PlanLimits& limits = {}) {
  RunTableBuilder builder(&regions);
  for (std::uint32_t lane = 0; lane < 2 * kLanesPerPart; ++lane) {
    const LaneOfPart at = lane_of_part(lane);
    for (std::uint32_t block = 0; block < kBlocks; ++block) {
      builder.add(regions.regions()[at.part].base + place(at.index, block));
    }
    builder.end_lane();
  }
  return plan_block_read(builder.take(), uniform_layout(288, kSegment, kSegment), kBlocks, regions,
                         limits);
}

std::uint64_t block_major(std::uint32_t index, std::uint32_t block) {
  return block * kPartBytes + std::uint64_t{index} * kSegment;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(seed_shape)

BOOST_AUTO_TEST_CASE(bump_order_takes_72_reads) {
  const auto made = plan_shape(two_regions(2 * kGiB, 8 * kGiB), block_major);
  BOOST_REQUIRE(made.ok());
  BOOST_TEST(made->total_bytes() == 2250 * kMiB);
  BOOST_TEST(made->reads_planned() == 72U);
  BOOST_TEST(made->chunks().size() == 10U);  // 4 x 256 MiB and 101 MiB, twice
  BOOST_TEST(made->chunks()[5].numa_node == 1);
}

BOOST_AUTO_TEST_CASE(the_order_of_lanes_and_blocks_in_memory_costs_no_read) {
  const RegionTable regions = two_regions(2 * kGiB, 8 * kGiB);
  std::vector<std::uint32_t> order(kBlocks);
  std::iota(order.begin(), order.end(), 0U);
  SeededRandom random(7);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  const auto permuted = plan_shape(regions, [&order](std::uint32_t index, std::uint32_t block) {
    return block_major(index, order[block]);
  });
  BOOST_REQUIRE(permuted.ok());
  BOOST_TEST(permuted->reads_planned() == 72U);
  const auto reversed = plan_shape(regions, [](std::uint32_t index, std::uint32_t block) {
    return block_major(index, kBlocks - 1 - block);
  });
  BOOST_TEST(reversed->reads_planned() == 72U);
  const auto lane_major = plan_shape(regions, [](std::uint32_t index, std::uint32_t block) {
    return (std::uint64_t{index} * kBlocks + block) * kSegment;
  });
  BOOST_TEST(lane_major->reads_planned() == 72U);
}

BOOST_AUTO_TEST_CASE(blocks_with_gaps_take_one_read_each_and_part) {
  const auto made =
      plan_shape(two_regions(8 * kGiB, 32 * kGiB), [](std::uint32_t index, std::uint32_t block) {
        return block_major(index, block) + block * std::uint64_t{4096};
      });
  BOOST_REQUIRE(made.ok());
  BOOST_TEST(made->reads_planned() == 2 * kBlocks);
  BOOST_TEST(made->total_bytes() == 2250 * kMiB);
}

BOOST_AUTO_TEST_CASE(the_work_grows_with_runs_and_blocks_not_with_segments) {
  // Intervals are what the planner sorts and lays out: one a part, or one a part and block (I10).
  const RegionTable regions = two_regions(8 * kGiB, 32 * kGiB);
  PlanLimits limits;
  limits.max_intervals = 2;
  BOOST_TEST(plan_shape(regions, block_major, limits).ok());
  limits.max_intervals = 2 * kBlocks;
  const auto gaps = [](std::uint32_t index, std::uint32_t block) {
    return block_major(index, block) + (block * std::uint64_t{7919} % kBlocks) * 4 * kMiB;
  };
  BOOST_TEST(plan_shape(regions, gaps, limits).ok());
  limits.max_intervals -= 2;
  BOOST_TEST(!plan_shape(regions, gaps, limits).ok());
}

BOOST_AUTO_TEST_CASE(touching_regions_and_small_chunks_cost_no_read) {
  // The second region begins where the first one's blocks end.
  const RegionTable touching = two_regions(1125 * kMiB, (1 << 30) + 1125 * kMiB);
  const auto made = plan_shape(touching, block_major);
  BOOST_REQUIRE(made.ok());
  BOOST_TEST(made->reads_planned() == 72U);
  PlanLimits limits;
  limits.max_chunk_bytes = 100 * kMiB;  // no multiple of a READ
  BOOST_TEST(plan_shape(touching, block_major, limits)->reads_planned() == 72U);
}

BOOST_AUTO_TEST_CASE(shrinking_slices_cost_at_most_16_reads_a_rail) {
  const auto made = plan_shape(two_regions(2 * kGiB, 8 * kGiB), block_major);
  BOOST_REQUIRE(made.ok());
  for (const std::uint32_t rails : {1U, 2U, 3U, 4U, 8U}) {
    SliceCursor cursor(*made, 32 * kMiB, rails);
    std::uint64_t posted = 0;
    while (cursor.take(32 * kMiB)) ++posted;
    BOOST_TEST(posted <= made->reads_planned() + std::uint64_t{16} * rails);
    if (rails == 1) BOOST_TEST(posted == made->reads_planned());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace corail::testing
