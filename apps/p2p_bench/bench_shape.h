#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/p2p_bench/placement.h"
#include "engine/base/result.h"
#include "engine/plan/layout.h"
#include "engine/store/store_types.h"
#include "rpc/options.h"

namespace corail::bench {

/// What is stored and read: `sets` disjoint sets of `blocks` blocks. A block has one slot for each
/// (layer, rank), slot = layer x ranks + rank, and a slot has one segment, or two (K and V) of the
/// same size. Both sides must be started with the same shape. A value.
struct Shape {
  std::uint32_t blocks = 128;
  std::uint32_t layers = 36;
  std::uint32_t ranks = 8;
  std::uint32_t segments = 2;  // 1 or 2
  std::uint32_t segment_bytes = 4096;
  std::uint32_t numa_nodes = 2;
  std::uint32_t sets = 1;
  Placement placement = Placement::kBump;
  std::uint64_t seed = 1;

  /// Only of a shape that check_shape() accepts.
  std::uint32_t slots() const noexcept { return layers * ranks; }
  std::uint32_t lanes() const noexcept { return slots() * segments; }
  std::uint64_t block_bytes() const noexcept { return std::uint64_t{lanes()} * segment_bytes; }
  /// Bytes of one set, which is what one iteration reads.
  std::uint64_t payload_bytes() const noexcept { return block_bytes() * blocks; }
  std::uint64_t stored_bytes() const noexcept { return payload_bytes() * sets; }

  friend bool operator==(const Shape&, const Shape&) = default;
};

/// Refuses a shape that cannot be built, in one sentence that names the flag.
Result<void> check_shape(const Shape& shape);

/// The NUMA node of a rank's cells: the first half of the ranks on node 0, and so on evenly.
std::uint32_t node_of_rank(const Shape& shape, std::uint32_t rank) noexcept;

/// The parts in which a block is saved, one per NUMA node: the part of each lane. A part holds the
/// ranks of a node, or with mixed-numa every so many slots. Part p lives on node p, but for
/// mixed-numa, see node_of_part.
std::vector<std::uint32_t> part_of_lanes(const Shape& shape);

/// Bytes of one block in each part.
std::vector<std::uint64_t> block_bytes_by_part(const Shape& shape);

Result<Layout> make_layout(const Shape& shape);

/// The identity of one block, 16 opaque bytes; no two of a run are alike.
std::string block_hash(std::uint64_t seed, std::uint32_t set, std::uint32_t block);

/// The namespace of a run's blocks: the whole shape as text. A holder that was started with any
/// other flag of the shape therefore has none of the blocks that are asked for, whether or not it
/// could say so beforehand. Never longer than kMaxNamespaceBytes.
std::string name_space_of(const Shape& shape);
/// The blocks of a set by their numbers, in this order.
BlockKeys make_keys(const Shape& shape, std::uint32_t set, std::span<const std::uint32_t> blocks);

/// The first flag in which two shapes differ: "--blocks is 128 here and 64 there".
std::optional<std::string> first_difference(const Shape& here, const Shape& there);

}  // namespace corail::bench
