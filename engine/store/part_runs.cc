#include "engine/store/part_runs.h"

#include <map>

namespace corail::detail {
namespace {

struct Position {
  std::uint64_t base = 0;
  std::uint32_t index = 0;
};

/// Of the run's last block.
Position last_of(const PartRun& run) noexcept {
  const auto steps = static_cast<std::int64_t>(run.count - 1);
  return {run.base + static_cast<std::uint64_t>(steps * run.base_step),
          static_cast<std::uint32_t>(run.index + steps * run.index_step)};
}

/// Whether the blocks of a run with this step abut, so that a lane-major run is one range per lane.
bool is_dense(const Shape& shape, std::int64_t base_step, std::int64_t index_step) noexcept {
  if (shape.order() == BlockOrder::kLaneMajor && !shape.uniform()) {
    return base_step == 0 && (index_step == 1 || index_step == -1);
  }
  const auto stride = static_cast<std::int64_t>(shape.uniform_stride());
  return base_step == stride || base_step == -stride;
}

}  // namespace

void PartRuns::append(std::span<const PartRef> parts, const ExtentTable& extents) {
  const Partition* partition = extents.at(parts.front().extent).shape->partition().get();
  if (phases_.empty() || phases_.back().partition != partition) {
    phases_.emplace_back();
    phases_.back().partition = partition;
    phases_.back().runs.resize(parts.size());
    parts_ += parts.size();
  }
  Phase& phase = phases_.back();
  for (std::size_t part = 0; part < parts.size(); ++part) {
    append_part(phase.runs[part], parts[part], extents.at(parts[part].extent));
  }
}

void PartRuns::append_part(std::vector<PartRun>& runs, const PartRef& ref,
                           const ExtentTable::Entry& extent) {
  const Shape& shape = *extent.shape;
  Position at{extent.base, ref.index};
  if (shape.uniform()) {
    at.base += at.index * shape.uniform_stride();
    at.index = 0;
  }
  const std::uint64_t lanes = shape.part().lanes.size();
  const std::uint64_t ranges = shape.order() == BlockOrder::kLaneMajor ? lanes : 1;
  if (!runs.empty() && runs.back().shape == &shape && runs.back().region == extent.region) {
    PartRun& open = runs.back();
    const Position last = last_of(open);
    // Unsigned differences, as descending blocks are as good as ascending ones.
    const auto base_step = static_cast<std::int64_t>(at.base - last.base);
    const auto index_step = static_cast<std::int64_t>(at.index) - std::int64_t{last.index};
    if (open.count == 1) {
      open.base_step = base_step;
      open.index_step = index_step;
    }
    if (open.base_step == base_step && open.index_step == index_step) {
      ++open.count;
      if (!is_dense(shape, base_step, index_step)) ranges_ += ranges;
      return;
    }
  }
  if (runs.empty() || runs.back().shape != &shape) ++shape_changes_;
  ++part_runs_;
  PartRun& opened = runs.emplace_back();
  opened.shape = &shape;
  opened.region = extent.region;
  opened.count = 1;
  opened.base = at.base;
  opened.index = at.index;
  lane_runs_ += lanes;
  ranges_ += ranges;
}

RunTable PartRuns::emit() const {
  RunTable table;
  if (phases_.empty()) return table;
  table.base.resize(lane_runs_);
  table.stride.resize(lane_runs_);
  table.count.resize(lane_runs_);
  const auto lanes = static_cast<std::uint32_t>(phases_.front().partition->part_of.size());
  table.runs_per_lane.resize(lanes);
  std::size_t at = 0;
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    const std::size_t first = at;
    for (const Phase& phase : phases_) {
      const std::uint32_t rank = phase.partition->rank_of[lane];
      for (const PartRun& run : phase.runs[phase.partition->part_of[lane]]) {
        table.base[at] = run.address(rank);
        table.stride[at] = run.stride(rank);
        table.count[at] = run.count;
        ++at;
      }
    }
    table.runs_per_lane[lane] = static_cast<std::uint32_t>(at - first);
  }
  return table;
}

PartTable PartRuns::emit_parts() const {
  PartTable table;
  std::map<const Part*, std::uint32_t> lane_sets;
  std::map<const Shape*, std::uint32_t> shapes;
  const auto lane_set_of = [&](const Part& part) {
    const auto [at, added] =
        lane_sets.emplace(&part, static_cast<std::uint32_t>(table.lane_sets.size()));
    if (added) table.lane_sets.push_back(part.lanes);
    return at->second;
  };
  const auto shape_of = [&](const Shape& shape) {
    const auto [at, added] =
        shapes.emplace(&shape, static_cast<std::uint32_t>(table.shapes.size()));
    if (!added) return at->second;
    PartShape& told = table.shapes.emplace_back();
    told.lane_set = lane_set_of(shape.part());
    const auto lanes = static_cast<std::uint32_t>(shape.part().lanes.size());
    for (std::uint32_t rank = 0; rank < lanes; ++rank) {
      told.offset.push_back(shape.offset(rank));
      if (!shape.uniform()) told.stride.push_back(shape.stride(rank));
    }
    if (shape.uniform()) told.stride.push_back(shape.uniform_stride());
    return at->second;
  };
  for (const Phase& phase : phases_) {
    PartPhase& told = table.phases.emplace_back();
    for (std::size_t part = 0; part < phase.runs.size(); ++part) {
      PartColumn& column = told.columns.emplace_back();
      column.lane_set = lane_set_of(phase.partition->parts[part]);
      column.runs.reserve(phase.runs[part].size());
      std::uint32_t blocks = 0;
      for (const PartRun& run : phase.runs[part]) {
        column.runs.push_back(
            {shape_of(*run.shape), run.count, run.base, run.index, run.base_step, run.index_step});
        blocks += run.count;
      }
      told.blocks = blocks;
    }
  }
  return table;
}

RunTable PartRuns::emit_segments() const {
  const RunTable runs = emit();
  RunTable table;
  for (std::uint32_t lane = 0; lane < runs.runs_per_lane.size(); ++lane) {
    const auto addresses = expand_lane(runs, lane);
    table.base.insert(table.base.end(), addresses.begin(), addresses.end());
    table.runs_per_lane.push_back(static_cast<std::uint32_t>(addresses.size()));
  }
  table.stride.assign(table.base.size(), 0);
  table.count.assign(table.base.size(), 1);
  return table;
}

}  // namespace corail::detail
