#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/ids.h"
#include "engine/plan/part_table.h"
#include "engine/plan/run_table.h"
#include "engine/store/block_table.h"
#include "engine/store/extent_table.h"
#include "engine/store/shape.h"

namespace corail::detail {

/// Consecutive blocks of an answer whose segments of one part are in arithmetic sequence, all lanes
/// alike: equal shape, one region, one step.
struct PartRun {
  const Shape* shape = nullptr;
  RegionId region;
  std::uint32_t count = 0;
  // The first block's extent base and index in it, and the step of each to the next block. Where
  // all lanes of the shape have one stride the index is folded into the base and stays 0, so that
  // runs go on across extents.
  std::uint64_t base = 0;
  std::uint32_t index = 0;
  std::int64_t base_step = 0;
  std::int64_t index_step = 0;

  std::uint64_t address(std::uint32_t rank) const noexcept {
    return base + shape->offset(rank) + index * shape->stride(rank);
  }
  std::int64_t stride(std::uint32_t rank) const noexcept {
    return base_step + index_step * static_cast<std::int64_t>(shape->stride(rank));
  }
};

/// What lies where, of a prefix: phases of blocks with one partition, in each phase the runs of
/// each part. Its cost grows with blocks and parts (I10). The shapes are kept alive by whoever
/// holds the extents. A value; immutable once a lease has it.
class PartRuns {
 public:
  struct Phase {
    const Partition* partition = nullptr;
    std::vector<std::vector<PartRun>> runs;  // per part
  };

  /// The next block of the prefix.
  void append(std::span<const PartRef> parts, const ExtentTable& extents);

  /// Lane runs that the answer has so far, and an upper bound of the disjoint byte ranges.
  std::uint64_t lane_runs() const noexcept { return lane_runs_; }
  std::uint64_t ranges() const noexcept { return ranges_; }
  /// What emit_parts() would have, as validate() counts it, or more: runs, and a number for each
  /// lane of each phase, lane set and shape.
  std::uint64_t part_entries(std::uint32_t lanes) const noexcept {
    return part_runs_ + (phases_.size() + parts_ + shape_changes_) * std::uint64_t{lanes};
  }
  const std::vector<Phase>& phases() const noexcept { return phases_; }

  /// The answer's table, lane by lane: the output and nothing else costs here.
  RunTable emit() const;
  /// The same part by part.
  PartTable emit_parts() const;
  /// The same with a run for each segment; for comparison only.
  RunTable emit_segments() const;

 private:
  void append_part(std::vector<PartRun>& runs, const PartRef& ref,
                   const ExtentTable::Entry& extent);

  std::vector<Phase> phases_;
  std::uint64_t lane_runs_ = 0;
  std::uint64_t part_runs_ = 0;
  std::uint64_t parts_ = 0;          // of all phases
  std::uint64_t shape_changes_ = 0;  // from run to run within a part, the first one included
  std::uint64_t ranges_ = 0;
};

}  // namespace corail::detail
