#pragma once

// For the codec's own sources only: everybody else sees codec.h.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/plan/part_table.h"
#include "rpc/wire_format.h"

namespace corail::codec {

/// A part table as it stands on the wire: one array a field of v1::PartTable.
struct PartArrays {
  std::vector<std::uint32_t> lane_set_sizes;
  std::vector<std::uint32_t> lanes;
  std::vector<std::uint32_t> shape_lane_sets;
  std::vector<std::uint32_t> shape_strides;
  std::vector<std::int64_t> offsets;
  std::vector<std::uint64_t> strides;
  std::vector<std::uint32_t> phase_blocks;
  std::vector<std::uint32_t> phase_columns;
  std::vector<std::uint32_t> column_lane_sets;
  std::vector<std::uint32_t> column_runs;
  std::vector<std::uint32_t> run_shapes;
  std::vector<std::uint32_t> run_counts;
  std::vector<std::int64_t> run_bases;
  std::vector<std::uint32_t> run_indices;
  std::vector<std::int64_t> run_base_steps;
  std::vector<std::int64_t> run_index_steps;
};

PartArrays flatten(const PartTable& table);

/// Bytes of the message, and the message itself.
std::size_t encoded_size(const PartArrays& arrays);
void write(const PartArrays& arrays, WireWriter& writer);

/// What a table may at most have: the blocks that were asked for, the lanes of the layout, and
/// entries as validate() counts them.
struct PartLimits {
  std::uint32_t blocks = 0;
  std::uint32_t lanes = 0;
  std::uint64_t entries = 0;
};
/// The table, whose arrays agree in their lengths; what its numbers mean is still the peer's word.
/// Arrays cost what they cost on the wire; the table, whose parts cost more, is made only when it
/// is within the limits (I5, I8). Fails with kProtocol.
Result<PartTable> decode_parts(std::span<const std::byte> message, const PartLimits& limits);

}  // namespace corail::codec
