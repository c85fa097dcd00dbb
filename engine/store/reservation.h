#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/store/arena.h"
#include "engine/store/store_state.h"

namespace corail::detail {

/// An extent of a save, and the first of the save's new blocks in it.
struct Piece {
  std::uint32_t first = 0;
  std::shared_ptr<const Extent> extent;
};

/// Finds bytes for `blocks` new blocks, for each part in its arena (null is the caller's bug): back
/// to back where there is room, in extents of at most max_extent_bytes. Evicts in order of use what
/// is not leased, and nothing when that could not suffice. Returns the pieces of each part, in
/// order; they give their bytes back when dropped. Fails with kTooLarge or kOutOfMemory.
Result<std::vector<std::vector<Piece>>> reserve(StoreState& store,
                                                const std::shared_ptr<const Partition>& partition,
                                                std::span<const std::shared_ptr<Arena>> arenas,
                                                BlockOrder order, std::uint32_t blocks);

}  // namespace corail::detail
