#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "apps/p2p_bench/bench_shape.h"
#include "engine/base/result.h"
#include "rpc/node.h"

namespace corail::bench {

/// Blocks of a set for one save, in this order. What it refers to outlives the save.
struct BlocksToSave {
  const Shape& shape;
  std::shared_ptr<const Layout> layout;  // interned in the node's store
  std::uint32_t set = 0;
  std::span<const std::uint32_t> blocks;
  std::uint32_t turn = 0;  // see node_of_part
};

/// Saves those that are not stored yet, filled with their content; a large save is written by one
/// saver per part, as far as there are cores. Called from outside of the node's threads. Fails as
/// BlockStore::begin() does.
Result<void> save_blocks(Node& node, const BlocksToSave& what);

}  // namespace corail::bench
