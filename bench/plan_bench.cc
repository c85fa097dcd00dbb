// What planning costs, for the shape of the measured case: 1000 blocks of 288 slots, K and V of
// 4 KiB each, half of the lanes in one region and half in another.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/units.h"
#include "engine/plan/block_plan.h"
#include "engine/plan/slice_cursor.h"

namespace corail {
namespace {

constexpr std::uint32_t kSlots = 288;
constexpr std::uint32_t kLanes = 2 * kSlots;
constexpr std::uint32_t kBlocks = 1000;
constexpr std::uint64_t kSegment = 4096;
constexpr std::uint64_t kPartBytes = kLanes / 2 * kSegment;

/// Where the blocks of a part lie in memory.
enum class Order { kBump, kPermuted, kGaps, kLaneMajor, kScattered };

struct Answer {
  std::shared_ptr<const Layout> layout;
  RegionTable regions;
  RunTable runs;
};

/// The blocks as they are asked for.
std::vector<std::uint32_t> blocks_in(Order order) {
  std::vector<std::uint32_t> blocks(kBlocks);
  std::iota(blocks.begin(), blocks.end(), 0U);
  SeededRandom random(1);
  if (order == Order::kPermuted || order == Order::kScattered) {
    for (std::size_t i = kBlocks; i > 1; --i) std::swap(blocks[i - 1], blocks[random.below(i)]);
  }
  return blocks;
}

Answer make_answer(Order order) {
  Answer answer;
  auto layout = Layout::make(std::vector<Slot>(kSlots, Slot{kSegment, kSegment, 0}));
  answer.layout = std::make_shared<const Layout>(std::move(layout).value());
  std::vector<Region> regions(2);
  for (std::uint32_t i = 0; i < 2; ++i) {
    regions[i].id = RegionId(i);
    regions[i].base = (std::uint64_t{i} + 1) * 64 * kGiB;
    regions[i].length = 32 * kGiB;
  }
  answer.regions = RegionTable::make(TableGeneration(1), std::move(regions)).value();

  const std::vector<std::uint32_t> blocks = blocks_in(order);
  RunTableBuilder builder(&answer.regions);
  for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t rank = lane / 2 % 8;
    const std::uint64_t base = (std::uint64_t{rank / 4} + 1) * 64 * kGiB;
    const std::uint64_t index = (lane / 16 * 4 + rank % 4) * 2 + lane % 2;
    for (const std::uint32_t block : blocks) {
      std::uint64_t offset = block * kPartBytes + index * kSegment;
      if (order == Order::kGaps) offset += block * kSegment;
      if (order == Order::kLaneMajor) offset = (index * kBlocks + block) * kSegment;
      if (order == Order::kScattered) offset *= 2;
      builder.add(base + offset);
    }
    builder.end_lane();
  }
  answer.runs = builder.take();
  return answer;
}

/// The same blocks, told part by part.
PartTable make_parts(Order order) {
  PartTable table;
  PartPhase phase;
  phase.blocks = kBlocks;
  for (std::uint32_t part = 0; part < 2; ++part) {
    std::vector<std::uint32_t> lanes;
    PartShape shape;
    shape.lane_set = part;
    shape.stride = {kPartBytes};
    for (std::uint32_t lane = 0; lane < kLanes; ++lane) {
      if (lane / 2 % 8 / 4 != part) continue;
      shape.offset.push_back(lanes.size() * kSegment);
      lanes.push_back(lane);
    }
    PartColumn column;
    column.lane_set = part;
    for (const std::uint32_t block : blocks_in(order)) {
      const std::uint64_t base = (std::uint64_t{part} + 1) * 64 * kGiB;
      if (order == Order::kBump && !column.runs.empty()) {
        ++column.runs.back().count;
        continue;
      }
      column.runs.push_back({part, 1, base, block, 0, 1});
    }
    table.lane_sets.push_back(std::move(lanes));
    table.shapes.push_back(std::move(shape));
    phase.columns.push_back(std::move(column));
  }
  table.phases.push_back(std::move(phase));
  return table;
}

BlockPlan plan(const Answer& answer) {
  return plan_block_read(answer.runs, answer.layout, kBlocks, answer.regions, PlanLimits{}).value();
}

void plan_read(benchmark::State& state, Order order) {
  const Answer answer = make_answer(order);
  std::uint64_t reads = 0;
  for (auto _ : state) {
    const BlockPlan made = plan(answer);
    reads = made.reads_planned();
  }
  state.counters["runs"] = static_cast<double>(answer.runs.runs());
  state.counters["reads"] = static_cast<double>(reads);
}
BENCHMARK_CAPTURE(plan_read, bump, Order::kBump)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(plan_read, lane_major, Order::kLaneMajor)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(plan_read, gaps, Order::kGaps)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(plan_read, permuted, Order::kPermuted)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(plan_read, scattered, Order::kScattered)->Unit(benchmark::kMicrosecond);

void plan_parts(benchmark::State& state, Order order) {
  const Answer answer = make_answer(order);
  const PartTable parts = make_parts(order);
  std::uint64_t reads = 0;
  for (auto _ : state) {
    const BlockPlan made =
        plan_block_read(parts, answer.layout, kBlocks, answer.regions, PlanLimits{}).value();
    reads = made.reads_planned();
  }
  state.counters["runs"] = static_cast<double>(parts.runs());
  state.counters["reads"] = static_cast<double>(reads);
}
BENCHMARK_CAPTURE(plan_parts, bump, Order::kBump)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(plan_parts, permuted, Order::kPermuted)->Unit(benchmark::kMicrosecond);

void validate_table(benchmark::State& state, Order order) {
  const Answer answer = make_answer(order);
  for (auto _ : state) {
    const auto valid = validate(answer.runs, *answer.layout, kBlocks, RunLimits{});
    benchmark::DoNotOptimize(valid.ok());
  }
}
BENCHMARK_CAPTURE(validate_table, bump, Order::kBump)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(validate_table, permuted, Order::kPermuted)->Unit(benchmark::kMicrosecond);

/// Time per segment: walking the whole plan once.
void walk_segments(benchmark::State& state, Order order) {
  const BlockPlan made = plan(make_answer(order));
  std::uint64_t sum = 0;
  for (auto _ : state) {
    made.for_each_segment(0, made.total_bytes(),
                          [&sum](std::uint32_t block, std::uint32_t lane, std::uint64_t linear,
                                 std::uint32_t bytes) { sum += block ^ lane ^ linear ^ bytes; });
  }
  benchmark::DoNotOptimize(sum);
  state.SetItemsProcessed(state.iterations() * kBlocks * kLanes);
}
BENCHMARK_CAPTURE(walk_segments, bump, Order::kBump)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(walk_segments, lane_major, Order::kLaneMajor)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(walk_segments, permuted, Order::kPermuted)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(walk_segments, scattered, Order::kScattered)->Unit(benchmark::kMicrosecond);

/// Time per look-up of one segment in random order.
void locate_segment(benchmark::State& state, Order order) {
  const BlockPlan made = plan(make_answer(order));
  SeededRandom random(3);
  for (auto _ : state) {
    const auto block = static_cast<std::uint32_t>(random.below(kBlocks));
    const auto lane = static_cast<std::uint32_t>(random.below(kLanes));
    benchmark::DoNotOptimize(made.locate(block, lane));
  }
}
BENCHMARK_CAPTURE(locate_segment, bump, Order::kBump);
BENCHMARK_CAPTURE(locate_segment, permuted, Order::kPermuted);

/// Time per slice, and how many there are.
void cut_slices(benchmark::State& state, Order order) {
  const BlockPlan made = plan(make_answer(order));
  std::uint64_t slices = 0;
  for (auto _ : state) {
    SliceCursor cursor(made, 32 * kMiB, 4);
    while (const auto cut = cursor.take(32 * kMiB)) ++slices;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(slices));
}
BENCHMARK_CAPTURE(cut_slices, bump, Order::kBump)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(cut_slices, gaps, Order::kGaps)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(cut_slices, scattered, Order::kScattered)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace corail
