#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/result.h"
#include "engine/plan/layout.h"
#include "engine/plan/run_table.h"

namespace corail {

/// Where the segments of one part of a block lie, relative to the block's base and index: the
/// segment of lane `lanes[i]` starts at base + offset[i] + index * stride[i].
struct PartShape {
  std::uint32_t lane_set = 0;         // index in PartTable::lane_sets
  std::vector<std::uint64_t> offset;  // bytes, one per lane of the set
  std::vector<std::uint64_t> stride;  // bytes, one per lane of the set, or one for all of them

  friend bool operator==(const PartShape&, const PartShape&) = default;
};

/// Consecutive blocks of one shape: the i-th has base + i * base_step and index + i * index_step.
/// A run lies in one region as a whole.
struct PartRun {
  std::uint32_t shape = 0;  // index in PartTable::shapes
  std::uint32_t count = 0;  // blocks, at least 1
  std::uint64_t base = 0;   // the holder's virtual address
  std::uint32_t index = 0;
  std::int64_t base_step = 0;  // bytes; meaningless where count is 1, as is the next
  std::int64_t index_step = 0;

  friend bool operator==(const PartRun&, const PartRun&) = default;
};

/// The runs of one part, in block order. All shapes in them are of the column's lane set.
struct PartColumn {
  std::uint32_t lane_set = 0;
  std::vector<PartRun> runs;

  friend bool operator==(const PartColumn&, const PartColumn&) = default;
};

/// Consecutive blocks that are divided into parts in the same way: each lane is in one column.
struct PartPhase {
  std::uint32_t blocks = 0;
  std::vector<PartColumn> columns;

  friend bool operator==(const PartPhase&, const PartPhase&) = default;
};

/// The second encoding of an answer: what a RunTable says lane by lane, said part by part. Where
/// lanes share their fate, which is within a part, it is smaller by their number; a prefix in
/// random order costs a few bytes a block instead of a run for each of its segments. Received
/// tables are hostile until a plan was made of them (I5).
struct PartTable {
  std::vector<std::vector<std::uint32_t>> lane_sets;  // lanes, ascending
  std::vector<PartShape> shapes;
  std::vector<PartPhase> phases;

  /// Runs of all columns of all phases.
  std::uint64_t runs() const noexcept;

  friend bool operator==(const PartTable&, const PartTable&) = default;
};

/// Checks a table of `blocks` blocks against the requester's own layout, as far as that can be done
/// without looking at each address: every index, the lanes of every phase, counts. Linear in the
/// table. Fails with kBadRunTable, or kTooLarge where it demands more than `max_entries` runs, or
/// lanes over all phases and sets.
Result<void> validate(const PartTable& table, const Layout& layout, std::uint32_t blocks,
                      std::uint64_t max_entries);

/// The same addresses lane by lane. The table must be valid. Costs what it emits.
RunTable expand(const PartTable& table, const Layout& layout);

}  // namespace corail
