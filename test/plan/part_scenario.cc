#include "test/plan/part_scenario.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace corail::testing {
namespace {

class PartsMaker {
 public:
  PartsMaker(const Scenario& scenario, std::uint64_t seed)
      : scenario_(scenario), random_(seed * 31 + 7) {}

  PartTable make() {
    for (std::uint32_t first = 0; first < scenario_.blocks;) {
      const auto blocks =
          random_.below(3) == 0
              ? static_cast<std::uint32_t>(1 + random_.below(scenario_.blocks - first))
              : scenario_.blocks - first;
      add_phase(first, blocks);
      first += blocks;
    }
    return std::move(table_);
  }

 private:
  void add_phase(std::uint32_t first, std::uint32_t blocks) {
    std::vector<std::vector<std::uint32_t>> sets(1 + random_.below(3));
    for (std::uint32_t lane = 0; lane < scenario_.layout->lanes(); ++lane) {
      sets[random_.below(sets.size())].push_back(lane);
    }
    PartPhase& phase = table_.phases.emplace_back();
    phase.blocks = blocks;
    for (auto& set : sets) {
      if (set.empty()) continue;
      if (in_one_region(set, first, blocks)) {
        add_column(phase, std::move(set), first, blocks);
        continue;
      }
      for (const std::uint32_t lane : set) add_column(phase, {lane}, first, blocks);
    }
  }

  void add_column(PartPhase& phase, std::vector<std::uint32_t> set, std::uint32_t first,
                  std::uint32_t blocks) {
    PartColumn& column = phase.columns.emplace_back();
    column.lane_set = static_cast<std::uint32_t>(table_.lane_sets.size());
    table_.lane_sets.push_back(std::move(set));
    add_runs(column, first, blocks);
  }

  std::ptrdiff_t region_of(std::uint32_t lane, std::uint32_t block) const {
    return scenario_.regions.find(address(lane, block), 1);
  }

  /// A part of a block is one saver's memory on one node.
  bool in_one_region(const std::vector<std::uint32_t>& set, std::uint32_t first,
                     std::uint32_t blocks) const {
    for (std::uint32_t block = first; block < first + blocks; ++block) {
      for (const std::uint32_t lane : set) {
        if (region_of(lane, block) != region_of(set.front(), block)) return false;
      }
    }
    return true;
  }

  std::uint64_t address(std::uint32_t lane, std::uint32_t block) const {
    return scenario_.addresses[lane][block];
  }

  /// Where the set's segments of a block lie from the lowest of them on.
  std::uint64_t base_of(const std::vector<std::uint32_t>& set, std::uint32_t block,
                        std::vector<std::uint64_t>& offset) const {
    std::uint64_t base = ~std::uint64_t{0};
    for (const std::uint32_t lane : set) base = std::min(base, address(lane, block));
    offset.clear();
    for (const std::uint32_t lane : set) offset.push_back(address(lane, block) - base);
    return base;
  }

  std::uint32_t shape_of(PartShape shape) {
    const auto found = std::find(table_.shapes.begin(), table_.shapes.end(), shape);
    if (found != table_.shapes.end()) {
      return static_cast<std::uint32_t>(found - table_.shapes.begin());
    }
    table_.shapes.push_back(std::move(shape));
    return static_cast<std::uint32_t>(table_.shapes.size() - 1);
  }

  void add_runs(PartColumn& column, std::uint32_t first, std::uint32_t blocks) {
    const std::vector<std::uint32_t> set = table_.lane_sets[column.lane_set];
    for (std::uint32_t block = first; block < first + blocks;) {
      PartRun run = random_.below(3) == 0
                        ? run_by_index(column.lane_set, set, block, first + blocks)
                        : run_by_base(column.lane_set, set, block, first + blocks);
      block += run.count;
      column.runs.push_back(run);
    }
  }

  /// All lanes move alike from block to block.
  PartRun run_by_base(std::uint32_t lane_set, const std::vector<std::uint32_t>& set,
                      std::uint32_t block, std::uint32_t end) {
    PartShape shape;
    shape.lane_set = lane_set;
    PartRun run;
    run.base = base_of(set, block, shape.offset);
    run.count = 1;
    std::uint64_t last = run.base;
    std::vector<std::uint64_t> offset;
    while (block + run.count < end && random_.below(8) != 0) {
      const std::uint64_t next = base_of(set, block + run.count, offset);
      const auto step = static_cast<std::int64_t>(next - last);
      if (offset != shape.offset || (run.count > 1 && step != run.base_step)) break;
      if (region_of(set.front(), block) != region_of(set.front(), block + run.count)) break;
      run.base_step = step;
      ++run.count;
      last = next;
    }
    // An index moves all lanes alike here, so any will do that leaves a base.
    const std::uint64_t stride = 1 + random_.below(64);
    shape.stride = {stride};
    const std::uint64_t index = random_.below(4);
    if (index * stride <= run.base) {
      run.index = static_cast<std::uint32_t>(index);
      run.base -= index * stride;
    }
    run.shape = shape_of(std::move(shape));
    return run;
  }

  /// Each lane moves by a stride of its own, as in lane-major memory.
  PartRun run_by_index(std::uint32_t lane_set, const std::vector<std::uint32_t>& set,
                       std::uint32_t block, std::uint32_t end) {
    PartShape shape;
    shape.lane_set = lane_set;
    PartRun run;
    run.base = base_of(set, block, shape.offset);
    run.count = 1;
    run.index_step = 1;
    for (const std::uint32_t lane : set) {
      const std::uint64_t at = address(lane, block);
      const std::uint64_t next = block + 1 < end ? address(lane, block + 1) : at;
      shape.stride.push_back(next >= at ? next - at : 0);
    }
    const auto continues = [&](std::uint32_t next) {
      for (std::size_t i = 0; i < set.size(); ++i) {
        if (address(set[i], next) - address(set[i], next - 1) != shape.stride[i]) return false;
      }
      return region_of(set.front(), block) == region_of(set.front(), next);
    };
    while (block + run.count < end && continues(block + run.count)) ++run.count;
    run.shape = shape_of(std::move(shape));
    return run;
  }

  const Scenario& scenario_;
  SeededRandom random_;
  PartTable table_;
};

}  // namespace

PartTable random_parts(const Scenario& scenario, std::uint64_t seed) {
  return PartsMaker(scenario, seed).make();
}

void mutate(PartTable& parts, std::uint64_t seed) {
  SeededRandom random(seed);
  const std::uint64_t odd[] = {0, 1, ~0ULL, 1ULL << 63, random.next(), random.below(4000)};
  const std::uint64_t value = odd[random.below(std::size(odd))];
  const auto narrow = static_cast<std::uint32_t>(value);
  const auto any = [&random](auto& list) -> auto& { return list[random.below(list.size())]; };
  PartPhase& phase = any(parts.phases);
  PartColumn& column = any(phase.columns);
  PartRun& run = any(column.runs);
  PartShape& shape = any(parts.shapes);
  switch (random.below(12)) {
    case 0:
      run.shape = narrow;
      break;
    case 1:
      run.count = narrow;
      break;
    case 2:
      run.base = value;
      break;
    case 3:
      run.index = narrow;
      break;
    case 4:
      run.base_step = static_cast<std::int64_t>(value);
      break;
    case 5:
      run.index_step = static_cast<std::int64_t>(value);
      break;
    case 6:
      any(shape.offset) = value;
      break;
    case 7:
      any(shape.stride) = value;
      break;
    case 8:
      any(any(parts.lane_sets)) = narrow;
      break;
    case 9:
      phase.blocks = narrow;
      break;
    case 10:
      column.lane_set = narrow;
      break;
    default:
      shape.lane_set = narrow;
      break;
  }
}

}  // namespace corail::testing
