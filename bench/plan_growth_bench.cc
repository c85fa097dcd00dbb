// Planning a bump prefix costs runs and not blocks: 64,000 blocks take at most twice as long as
// 1,000. Blocks of 16 slots with one segment of 64 bytes; slices are cut later, while reading.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/plan/block_plan.h"

namespace corail {
namespace {

constexpr std::uint32_t kSlots = 16;
constexpr std::uint64_t kSegment = 64;
constexpr std::uint64_t kBlockBytes = kSlots * kSegment;
constexpr std::uint64_t kBase = kGiB;
constexpr std::uint32_t kFew = 1000;
constexpr std::uint32_t kMany = 64'000;
constexpr double kMostGrowth = 2;

/// A dense prefix in one region, in both encodings.
struct Prefix {
  std::shared_ptr<const Layout> layout;
  RegionTable regions;
  RunTable runs;
  PartTable parts;
  std::uint32_t blocks = 0;
};

Prefix make_prefix(std::uint32_t blocks) {
  Prefix prefix;
  prefix.blocks = blocks;
  prefix.layout = std::make_shared<const Layout>(
      Layout::make(std::vector<Slot>(kSlots, Slot{kSegment, 0, 0})).value());
  std::vector<Region> regions(1);
  regions[0].id = RegionId(0);
  regions[0].base = kBase;
  regions[0].length = kGiB;
  prefix.regions = RegionTable::make(TableGeneration(1), std::move(regions)).value();
  PartShape shape;
  shape.stride = {0};
  std::vector<std::uint32_t> lanes;
  for (std::uint32_t lane = 0; lane < kSlots; ++lane) {
    prefix.runs.runs_per_lane.push_back(1);
    prefix.runs.base.push_back(kBase + lane * kSegment);
    prefix.runs.stride.push_back(kBlockBytes);
    prefix.runs.count.push_back(blocks);
    shape.offset.push_back(lane * kSegment);
    lanes.push_back(lane);
  }
  PartColumn column;
  column.runs.push_back({0, blocks, kBase, 0, kBlockBytes, 0});
  PartPhase phase;
  phase.blocks = blocks;
  phase.columns.push_back(std::move(column));
  prefix.parts.lane_sets.push_back(std::move(lanes));
  prefix.parts.shapes.push_back(std::move(shape));
  prefix.parts.phases.push_back(std::move(phase));
  return prefix;
}

template <typename Table>
void plan(const Table& table, const Prefix& prefix) {
  const auto made =
      plan_block_read(table, prefix.layout, prefix.blocks, prefix.regions, PlanLimits{});
  benchmark::DoNotOptimize(made.value().reads_planned());
}

void plan_runs(benchmark::State& state) {
  const Prefix prefix = make_prefix(static_cast<std::uint32_t>(state.range(0)));
  for (auto _ : state) plan(prefix.runs, prefix);
}
BENCHMARK(plan_runs)->Arg(kFew)->Arg(kMany)->Unit(benchmark::kMicrosecond);

void plan_parts(benchmark::State& state) {
  const Prefix prefix = make_prefix(static_cast<std::uint32_t>(state.range(0)));
  for (auto _ : state) plan(prefix.parts, prefix);
}
BENCHMARK(plan_parts)->Arg(kFew)->Arg(kMany)->Unit(benchmark::kMicrosecond);

/// Both in turns, so that whatever else the machine does meets both; fails above the bound.
template <typename Table>
void growth(benchmark::State& state, const Table& few_table, const Prefix& few,
            const Table& many_table, const Prefix& many) {
  Duration few_time{};
  Duration many_time{};
  for (auto _ : state) {
    const auto start = machine_now();
    plan(few_table, few);
    const auto middle = machine_now();
    plan(many_table, many);
    few_time += middle - start;
    many_time += machine_now() - middle;
  }
  const double ratio =
      static_cast<double>(many_time.count()) / static_cast<double>(few_time.count());
  state.counters["growth"] = ratio;
  if (ratio <= kMostGrowth) return;
  const std::string error = "64,000 blocks take " + std::to_string(ratio) + " times as long";
  state.SkipWithError(error.c_str());
}

void growth_of_runs(benchmark::State& state) {
  const Prefix few = make_prefix(kFew);
  const Prefix many = make_prefix(kMany);
  growth(state, few.runs, few, many.runs, many);
}
BENCHMARK(growth_of_runs)->Unit(benchmark::kMicrosecond);

void growth_of_parts(benchmark::State& state) {
  const Prefix few = make_prefix(kFew);
  const Prefix many = make_prefix(kMany);
  growth(state, few.parts, few, many.parts, many);
}
BENCHMARK(growth_of_parts)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace corail
