// Plans of hostile tables of either kind: what is accepted reads each asked-for byte once, from
// inside one region, into inside one chunk (I3, I4, I5).
#include <cstdlib>
#include <memory>
#include <vector>

#include "engine/plan/block_plan.h"
#include "test/fuzz/fuzz_input.h"

namespace corail::fuzz {
namespace {

constexpr std::uint32_t kMaxBlocks = 16;
constexpr std::uint64_t kBase = 0x10000;

/// Mostly near the regions, so that many tables get past the first check.
std::uint64_t address_of(FuzzInput& input) {
  return input.below(16) == 0 ? input.number<std::uint64_t>()
                              : kBase + input.number<std::uint16_t>();
}

std::int64_t step_of(FuzzInput& input) {
  return input.below(16) == 0 ? input.number<std::int64_t>() : input.number<std::int16_t>();
}

RegionTable regions_of(FuzzInput& input) {
  std::vector<Region> regions;
  std::uint64_t base = kBase;
  for (std::uint32_t i = 0, n = 1 + input.below(3); i < n; ++i) {
    Region region;
    region.id = RegionId(i + 1);
    region.base = base;
    region.length = 1 + input.number<std::uint16_t>();
    region.numa_node = static_cast<std::int32_t>(i);
    base += region.length + input.below(2) * 64;
    regions.push_back(std::move(region));
  }
  return RegionTable::make(TableGeneration(1), std::move(regions)).value();
}

RunTable runs_of(FuzzInput& input, std::uint32_t lanes, std::uint32_t blocks) {
  RunTable table;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    std::uint32_t runs = 0;
    for (std::uint32_t left = blocks; left > 0; ++runs) {
      const std::uint32_t count = 1 + input.below(left);
      table.base.push_back(address_of(input));
      table.stride.push_back(step_of(input));
      table.count.push_back(count);
      left -= count;
    }
    table.runs_per_lane.push_back(runs);
  }
  return table;
}

void add_phase(FuzzInput& input, std::uint32_t blocks, PartTable& table) {
  PartPhase& phase = table.phases.emplace_back();
  phase.blocks = blocks;
  for (std::uint32_t set = 0; set < table.lane_sets.size(); ++set) {
    PartColumn& column = phase.columns.emplace_back();
    column.lane_set = set;
    for (std::uint32_t left = blocks; left > 0;) {
      const std::uint32_t count = 1 + input.below(left);
      column.runs.push_back({input.below(16) == 0 ? set + 1 : set, count, address_of(input),
                             input.below(8), step_of(input), step_of(input) % 4});
      left -= count;
    }
  }
}

PartTable parts_of(FuzzInput& input, std::uint32_t lanes, std::uint32_t blocks) {
  PartTable table;
  table.lane_sets.resize(1 + input.below(2));
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    table.lane_sets[input.below(static_cast<std::uint32_t>(table.lane_sets.size()))].push_back(
        lane);
  }
  for (std::uint32_t set = 0; set < table.lane_sets.size(); ++set) {
    PartShape& shape = table.shapes.emplace_back();
    shape.lane_set = set;
    for (std::size_t i = 0; i < table.lane_sets[set].size(); ++i) {
      shape.offset.push_back(input.number<std::uint16_t>());
    }
    shape.stride.assign(input.below(2) == 0 ? 1 : shape.offset.size(),
                        input.number<std::uint16_t>());
  }
  for (std::uint32_t left = blocks; left > 0;) {
    const std::uint32_t in_phase = input.below(2) == 0 ? left : 1 + input.below(left);
    add_phase(input, in_phase, table);
    left -= in_phase;
  }
  return table;
}

void check_spans(const BlockPlan& plan, const RegionTable& regions) {
  std::uint64_t linear = 0;
  for (const BlockPlan::Span& span : plan.spans()) {
    const Region& region = regions.regions()[span.region];
    const ChunkSpec& chunk = plan.chunks()[span.chunk];
    if (span.linear != linear || span.remote_address < region.base) std::abort();
    if (span.remote_offset != span.remote_address - region.base) std::abort();
    if (span.remote_offset + span.length > region.length) std::abort();
    if (span.chunk_offset + span.length > chunk.bytes) std::abort();
    linear += span.length;
  }
  if (linear != plan.total_bytes()) std::abort();
}

/// Every segment has bytes of its own.
void check_segments(const BlockPlan& plan) {
  std::vector<bool> used(plan.total_bytes());
  const auto sizes = plan.layout().lane_bytes();
  for (std::uint32_t block = 0; block < plan.blocks(); ++block) {
    for (std::uint32_t lane = plan.lane_range().begin; lane < plan.lane_range().end; ++lane) {
      const std::uint64_t from = plan.linear_of(block, lane);
      if (from + sizes[lane] > plan.total_bytes()) std::abort();
      for (std::uint64_t i = from; i < from + sizes[lane]; ++i) {
        if (used[i]) std::abort();
        used[i] = true;
      }
    }
  }
}

void plan_and_check(FuzzInput input) {
  std::vector<Slot> slots(1 + input.below(3));
  for (Slot& slot : slots) {
    slot.k_bytes = 1 + input.below(200);
    slot.v_bytes = input.below(200);
  }
  const auto layout = std::make_shared<const Layout>(Layout::make(std::move(slots)).value());
  const std::uint32_t blocks = 1 + input.below(kMaxBlocks);
  const RegionTable regions = regions_of(input);
  PlanLimits limits;
  limits.max_read_bytes = 1 + input.number<std::uint16_t>();
  limits.max_chunk_bytes = 200 + input.number<std::uint16_t>();
  LaneRange lanes;
  if (input.below(2) == 0) lanes = {input.below(layout->lanes()), layout->lanes()};
  const auto plan = input.below(2) == 0 ? plan_block_read(runs_of(input, layout->lanes(), blocks),
                                                          layout, blocks, regions, limits, lanes)
                                        : plan_block_read(parts_of(input, layout->lanes(), blocks),
                                                          layout, blocks, regions, limits, lanes);
  if (!plan.ok()) return;
  check_spans(*plan, regions);
  check_segments(*plan);
  std::uint64_t reads = 0;
  for (std::uint64_t from = 0; from < plan->total_bytes(); ++reads) {
    from = plan->cut(from, plan->max_read_bytes());
  }
  if (reads != plan->reads_planned()) std::abort();
}

}  // namespace
}  // namespace corail::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  corail::fuzz::plan_and_check(corail::fuzz::FuzzInput(data, size));
  return 0;
}
