#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "apps/p2p_bench/bench_shape.h"
#include "engine/base/result.h"
#include "rpc/node.h"

namespace corail::bench {

/// The memory of one stored set, in the order of its addresses, neighbours joined. The bytes stay
/// where they are while the node lives: the store is made large enough to evict nothing.
using SourceMemory = std::vector<std::span<const std::byte>>;

/// Capacity for all sets of the shape, per NUMA node. `max_region_bytes`: 0, or how much devices
/// register at once.
StoreOptions store_options_for(const Shape& shape, bool huge_pages,
                               std::uint64_t max_region_bytes = 0);

/// Writes and seals every set as the shape's --layout has it. Called from outside of the node's
/// threads, after start(). Returns where each set lies.
Result<std::vector<SourceMemory>> save_sets(Node& node, const Shape& shape);

}  // namespace corail::bench
