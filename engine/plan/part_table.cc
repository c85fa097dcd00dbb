#include "engine/plan/part_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

namespace corail {
namespace {

Error bad_part_table(std::string detail) {
  return {Errc::kBadRunTable, Stage::kPlan,
          std::move(detail) + "; the peer's part table is unusable"};
}

Error too_large(std::uint64_t entries, std::uint64_t most) {
  return {Errc::kTooLarge, Stage::kPlan,
          fmt::format("the peer's part table has {} runs and lanes, allowed are {}; ask for fewer "
                      "blocks",
                      entries, most)};
}

Result<void> validate_lane_sets(const PartTable& table, std::uint32_t lanes) {
  for (const auto& set : table.lane_sets) {
    if (set.empty()) return bad_part_table("a lane set is empty");
    for (std::size_t i = 0; i < set.size(); ++i) {
      if (set[i] >= lanes || (i > 0 && set[i] <= set[i - 1])) {
        return bad_part_table(
            fmt::format("a lane set has lane {} out of order or of {}", set[i], lanes));
      }
    }
  }
  return ok_result();
}

Result<void> validate_shapes(const PartTable& table) {
  for (const PartShape& shape : table.shapes) {
    if (shape.lane_set >= table.lane_sets.size()) return bad_part_table("a shape has no lane set");
    const std::size_t lanes = table.lane_sets[shape.lane_set].size();
    if (shape.offset.size() != lanes ||
        (shape.stride.size() != 1 && shape.stride.size() != lanes)) {
      return bad_part_table(fmt::format("a shape of {} lanes has {} offsets and {} strides", lanes,
                                        shape.offset.size(), shape.stride.size()));
    }
  }
  return ok_result();
}

Result<void> validate_column(const PartTable& table, const PartColumn& column,
                             std::uint32_t blocks) {
  std::uint64_t covered = 0;  // of at most 2^32 runs of less than 2^32: cannot overflow
  for (const PartRun& run : column.runs) {
    if (run.shape >= table.shapes.size() || table.shapes[run.shape].lane_set != column.lane_set) {
      return bad_part_table(
          fmt::format("a run has shape {}, which its lanes do not have", run.shape));
    }
    if (run.count == 0) return bad_part_table("a run covers no block");
    covered += run.count;
  }
  if (covered != blocks) {
    return bad_part_table(fmt::format("the runs of a part cover {} of {} blocks", covered, blocks));
  }
  return ok_result();
}

Result<void> validate_phase(const PartTable& table, const PartPhase& phase, std::uint32_t lanes) {
  std::vector<bool> seen(lanes, false);
  std::size_t seen_lanes = 0;
  for (const PartColumn& column : phase.columns) {
    if (column.lane_set >= table.lane_sets.size()) return bad_part_table("a part has no lane set");
    for (const std::uint32_t lane : table.lane_sets[column.lane_set]) {
      if (seen[lane]) return bad_part_table(fmt::format("lane {} is in two parts", lane));
      seen[lane] = true;
      ++seen_lanes;
    }
    if (auto valid = validate_column(table, column, phase.blocks); !valid) return valid;
  }
  if (seen_lanes != lanes) {
    return bad_part_table(fmt::format("{} of {} lanes are in no part", lanes - seen_lanes, lanes));
  }
  return ok_result();
}

}  // namespace

std::uint64_t PartTable::runs() const noexcept {
  std::uint64_t runs = 0;
  for (const PartPhase& phase : phases) {
    for (const PartColumn& column : phase.columns) runs += column.runs.size();
  }
  return runs;
}

Result<void> validate(const PartTable& table, const Layout& layout, std::uint32_t blocks,
                      std::uint64_t max_entries) {
  if (blocks == 0) {
    return Error(Errc::kInvalidArgument, Stage::kPlan, "a part table of no blocks was to be read");
  }
  const std::uint32_t lanes = layout.lanes();
  // What a lookup and this check cost, before either is paid for (I8).
  const std::uint64_t entries =
      table.runs() +
      (std::uint64_t{table.phases.size()} + table.lane_sets.size() + table.shapes.size()) * lanes;
  if (entries > max_entries) return too_large(entries, max_entries);
  if (auto valid = validate_lane_sets(table, lanes); !valid) return valid;
  if (auto valid = validate_shapes(table); !valid) return valid;
  std::uint64_t covered = 0;
  for (const PartPhase& phase : table.phases) {
    if (phase.blocks == 0) return bad_part_table("a phase covers no block");
    covered += phase.blocks;
    if (auto valid = validate_phase(table, phase, lanes); !valid) return valid;
  }
  if (covered != blocks) {
    return bad_part_table(fmt::format("its phases cover {} of {} blocks", covered, blocks));
  }
  return ok_result();
}

RunTable expand(const PartTable& table, const Layout& layout) {
  std::vector<RunTable> lanes(layout.lanes());
  for (const PartPhase& phase : table.phases) {
    for (const PartColumn& column : phase.columns) {
      const std::vector<std::uint32_t>& set = table.lane_sets[column.lane_set];
      for (const PartRun& run : column.runs) {
        const PartShape& shape = table.shapes[run.shape];
        for (std::size_t i = 0; i < set.size(); ++i) {
          const std::uint64_t stride = shape.stride.size() == 1 ? shape.stride[0] : shape.stride[i];
          RunTable& lane = lanes[set[i]];
          // Unsigned arithmetic: a valid table's addresses do not wrap, steps may be negative.
          lane.base.push_back(run.base + shape.offset[i] + run.index * stride);
          lane.stride.push_back(
              static_cast<std::int64_t>(static_cast<std::uint64_t>(run.base_step) +
                                        static_cast<std::uint64_t>(run.index_step) * stride));
          lane.count.push_back(run.count);
        }
      }
    }
  }
  RunTable all;
  for (const RunTable& lane : lanes) {
    all.runs_per_lane.push_back(static_cast<std::uint32_t>(lane.runs()));
    all.base.insert(all.base.end(), lane.base.begin(), lane.base.end());
    all.stride.insert(all.stride.end(), lane.stride.begin(), lane.stride.end());
    all.count.insert(all.count.end(), lane.count.begin(), lane.count.end());
  }
  return all;
}

}  // namespace corail
