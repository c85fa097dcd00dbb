#include "rpc/codec_parts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "proto/corail/v1/blocks.pb.h"
#include "rpc/codec_fields.h"
#include "rpc/packed.h"

namespace corail::codec {
namespace {

using Fields = v1::PartTable;
constexpr std::string_view kParts = "PartTable";

/// Neighbours on the wire are near each other, and a difference is short. Unsigned arithmetic, as
/// any two addresses have a difference modulo 2^64.
std::int64_t difference(std::uint64_t from, std::uint64_t to) noexcept {
  return static_cast<std::int64_t>(to - from);
}
std::uint64_t moved(std::uint64_t from, std::int64_t by) noexcept {
  return from + static_cast<std::uint64_t>(by);
}

/// Nearly all tables need no index: nothing stands for zeros.
template <typename T>
void leave_out_zeros(std::vector<T>& array) {
  if (std::all_of(array.begin(), array.end(), [](T value) { return value == 0; })) array.clear();
}

/// Calls f(field number, array) for each array of the message.
template <typename Arrays, typename F>
void for_each_array(Arrays& arrays, F f) {
  f(Fields::kLaneSetSizesFieldNumber, arrays.lane_set_sizes);
  f(Fields::kLanesFieldNumber, arrays.lanes);
  f(Fields::kShapeLaneSetsFieldNumber, arrays.shape_lane_sets);
  f(Fields::kShapeStridesFieldNumber, arrays.shape_strides);
  f(Fields::kOffsetsFieldNumber, arrays.offsets);
  f(Fields::kStridesFieldNumber, arrays.strides);
  f(Fields::kPhaseBlocksFieldNumber, arrays.phase_blocks);
  f(Fields::kPhaseColumnsFieldNumber, arrays.phase_columns);
  f(Fields::kColumnLaneSetsFieldNumber, arrays.column_lane_sets);
  f(Fields::kColumnRunsFieldNumber, arrays.column_runs);
  f(Fields::kRunShapesFieldNumber, arrays.run_shapes);
  f(Fields::kRunCountsFieldNumber, arrays.run_counts);
  f(Fields::kRunBasesFieldNumber, arrays.run_bases);
  f(Fields::kRunIndicesFieldNumber, arrays.run_indices);
  f(Fields::kRunBaseStepsFieldNumber, arrays.run_base_steps);
  f(Fields::kRunIndexStepsFieldNumber, arrays.run_index_steps);
}

Error does_not_match(std::string_view field) {
  return field_error(kParts, field, "does not match the arrays that it divides or goes with");
}

Result<void> check_size(const PartArrays& arrays, const PartLimits& limits) {
  if (arrays.phase_blocks.size() > limits.blocks) {
    return field_error(kParts, "phase_blocks", "has {} elements for {} blocks",
                       arrays.phase_blocks.size(), limits.blocks);
  }
  const std::uint64_t per_lane = std::uint64_t{arrays.phase_blocks.size()} +
                                 arrays.lane_set_sizes.size() + arrays.shape_lane_sets.size();
  const std::uint64_t entries = arrays.run_shapes.size() + per_lane * limits.lanes;
  // Every column has a lane of its own.
  if (entries > limits.entries || arrays.column_runs.size() > limits.entries) {
    return field_error(kParts, "run_shapes",
                       "and the rest have {} entries, more than the {} allowed", entries,
                       limits.entries);
  }
  return ok_result();
}

/// Puts the arrays together again. Each position is checked before it is read (I5).
class Unflatten {
 public:
  explicit Unflatten(const PartArrays& arrays) : arrays_(arrays) {}

  Result<PartTable> run() {
    if (auto taken = take_lane_sets(); !taken) return std::move(taken).error();
    if (auto taken = take_shapes(); !taken) return std::move(taken).error();
    if (auto taken = take_phases(); !taken) return std::move(taken).error();
    return std::move(table_);
  }

 private:
  Result<void> take_lane_sets() {
    std::size_t at = 0;
    for (const std::uint32_t size : arrays_.lane_set_sizes) {
      if (size > arrays_.lanes.size() - at) return does_not_match("lane_set_sizes");
      const auto first = arrays_.lanes.begin() + static_cast<std::ptrdiff_t>(at);
      table_.lane_sets.emplace_back(first, first + static_cast<std::ptrdiff_t>(size));
      at += size;
    }
    if (at != arrays_.lanes.size()) return does_not_match("lanes");
    return ok_result();
  }

  Result<void> take_shapes() {
    if (arrays_.shape_strides.size() != arrays_.shape_lane_sets.size()) {
      return does_not_match("shape_strides");
    }
    std::size_t offset = 0;
    std::size_t stride = 0;
    for (std::size_t i = 0; i < arrays_.shape_lane_sets.size(); ++i) {
      const std::uint32_t set = arrays_.shape_lane_sets[i];
      if (set >= table_.lane_sets.size()) return does_not_match("shape_lane_sets");
      const std::size_t lanes = table_.lane_sets[set].size();
      const std::size_t strides = arrays_.shape_strides[i];
      if (lanes > arrays_.offsets.size() - offset) return does_not_match("offsets");
      if (strides > arrays_.strides.size() - stride) return does_not_match("strides");
      PartShape& shape = table_.shapes.emplace_back();
      shape.lane_set = set;
      shape.offset.reserve(lanes);
      std::uint64_t last = 0;
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        last = moved(last, arrays_.offsets[offset++]);
        shape.offset.push_back(last);
      }
      const auto first = arrays_.strides.begin() + static_cast<std::ptrdiff_t>(stride);
      shape.stride.assign(first, first + static_cast<std::ptrdiff_t>(strides));
      stride += strides;
    }
    if (offset != arrays_.offsets.size()) return does_not_match("offsets");
    if (stride != arrays_.strides.size()) return does_not_match("strides");
    return ok_result();
  }

  Result<void> take_phases() {
    const std::size_t runs = arrays_.run_shapes.size();
    if (arrays_.run_counts.size() != runs) return does_not_match("run_counts");
    if (arrays_.run_bases.size() != runs) return does_not_match("run_bases");
    if (arrays_.run_base_steps.size() != runs) return does_not_match("run_base_steps");
    const auto zeros_or_one_each = [runs](const auto& array) {
      return array.empty() || array.size() == runs;
    };
    if (!zeros_or_one_each(arrays_.run_indices)) return does_not_match("run_indices");
    if (!zeros_or_one_each(arrays_.run_index_steps)) return does_not_match("run_index_steps");
    if (arrays_.phase_columns.size() != arrays_.phase_blocks.size()) {
      return does_not_match("phase_columns");
    }
    if (arrays_.column_runs.size() != arrays_.column_lane_sets.size()) {
      return does_not_match("column_runs");
    }
    for (std::size_t i = 0; i < arrays_.phase_blocks.size(); ++i) {
      if (arrays_.phase_columns[i] > arrays_.column_runs.size() - column_) {
        return does_not_match("phase_columns");
      }
      PartPhase& phase = table_.phases.emplace_back();
      phase.blocks = arrays_.phase_blocks[i];
      for (std::uint32_t left = arrays_.phase_columns[i]; left > 0; --left) {
        if (auto taken = take_column(phase.columns.emplace_back()); !taken) return taken;
      }
    }
    if (column_ != arrays_.column_runs.size()) return does_not_match("phase_columns");
    if (run_ != runs) return does_not_match("column_runs");
    return ok_result();
  }

  Result<void> take_column(PartColumn& column) {
    const std::uint32_t runs = arrays_.column_runs[column_];
    if (runs > arrays_.run_shapes.size() - run_) return does_not_match("column_runs");
    column.lane_set = arrays_.column_lane_sets[column_++];
    column.runs.reserve(runs);
    for (const std::size_t end = run_ + runs; run_ < end; ++run_) {
      base_ = moved(base_, arrays_.run_bases[run_]);
      PartRun& run = column.runs.emplace_back();
      run.shape = arrays_.run_shapes[run_];
      run.count = arrays_.run_counts[run_];
      run.base = base_;
      run.index = arrays_.run_indices.empty() ? 0 : arrays_.run_indices[run_];
      run.base_step = arrays_.run_base_steps[run_];
      run.index_step = arrays_.run_index_steps.empty() ? 0 : arrays_.run_index_steps[run_];
    }
    return ok_result();
  }

  const PartArrays& arrays_;
  PartTable table_;
  std::size_t column_ = 0;
  std::size_t run_ = 0;
  std::uint64_t base_ = 0;  // of the run before
};

}  // namespace

PartArrays flatten(const PartTable& table) {
  PartArrays arrays;
  for (const auto& set : table.lane_sets) {
    arrays.lane_set_sizes.push_back(static_cast<std::uint32_t>(set.size()));
    arrays.lanes.insert(arrays.lanes.end(), set.begin(), set.end());
  }
  for (const PartShape& shape : table.shapes) {
    arrays.shape_lane_sets.push_back(shape.lane_set);
    arrays.shape_strides.push_back(static_cast<std::uint32_t>(shape.stride.size()));
    std::uint64_t last = 0;
    for (const std::uint64_t offset : shape.offset) {
      arrays.offsets.push_back(difference(last, offset));
      last = offset;
    }
    arrays.strides.insert(arrays.strides.end(), shape.stride.begin(), shape.stride.end());
  }
  std::uint64_t base = 0;
  for (const PartPhase& phase : table.phases) {
    arrays.phase_blocks.push_back(phase.blocks);
    arrays.phase_columns.push_back(static_cast<std::uint32_t>(phase.columns.size()));
    for (const PartColumn& column : phase.columns) {
      arrays.column_lane_sets.push_back(column.lane_set);
      arrays.column_runs.push_back(static_cast<std::uint32_t>(column.runs.size()));
      for (const PartRun& run : column.runs) {
        arrays.run_shapes.push_back(run.shape);
        arrays.run_counts.push_back(run.count);
        arrays.run_bases.push_back(difference(base, run.base));
        arrays.run_indices.push_back(run.index);
        arrays.run_base_steps.push_back(run.base_step);
        arrays.run_index_steps.push_back(run.index_step);
        base = run.base;
      }
    }
  }
  leave_out_zeros(arrays.run_indices);
  leave_out_zeros(arrays.run_index_steps);
  return arrays;
}

std::size_t encoded_size(const PartArrays& arrays) {
  std::size_t size = 0;
  for_each_array(arrays, [&size]<typename T>(std::uint32_t field, const std::vector<T>& array) {
    size += PackedVarints<T>(field, array).size();
  });
  return size;
}

void write(const PartArrays& arrays, WireWriter& writer) {
  for_each_array(arrays, [&writer]<typename T>(std::uint32_t field, const std::vector<T>& array) {
    PackedVarints<T>(field, array).write(writer);
  });
}

Result<PartTable> decode_parts(std::span<const std::byte> message, const PartLimits& limits) {
  PartArrays arrays;
  WireReader reader(message);
  while (reader.next()) {
    bool taken = true;
    for_each_array(arrays, [&]<typename T>(std::uint32_t field, std::vector<T>& array) {
      if (reader.field() == field) taken = append_varints(reader, limits.entries, array);
    });
    if (!taken) {
      return field_error(kParts, std::to_string(reader.field()),
                         "is malformed, out of range or too long ({} bytes)", reader.field_bytes());
    }
  }
  if (!reader.ok()) return malformed(kParts);
  if (auto small = check_size(arrays, limits); !small) return std::move(small).error();
  return Unflatten(arrays).run();
}

}  // namespace corail::codec
