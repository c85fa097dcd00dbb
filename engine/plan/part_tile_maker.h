#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/block_plan.h"
#include "engine/plan/lane_range.h"
#include "engine/plan/part_table.h"
#include "engine/plan/region_finder.h"
#include "engine/plan/remote_tile.h"

namespace corail {

/// Makes the tiles of a plan out of a part table: each run becomes one tile for each piece of its
/// shape, that is for lanes whose segments abut and move alike. All runs of a shape share its
/// cells, so the cost is that of runs and pieces, never of segments (I10). Lives on the planner's
/// stack.
class PartTileMaker {
 public:
  /// `plan` has its layout, blocks and lanes, and receives tiles, cells and the segments' places.
  /// The table must have passed validate(); its addresses are checked here (I5).
  PartTileMaker(const PartTable& table, const RegionTable& regions, std::uint64_t max_tiles,
                BlockPlan& plan);

  /// By index of the tile. Fails with kBadRunTable, or kTooLarge for more than `max_tiles`.
  Result<std::vector<RemoteTile>> make();

 private:
  /// Lanes of a shape that abut and have one stride: a contiguous row of each block.
  struct Piece {
    std::uint64_t offset = 0;  // of the row, from the run's base
    std::uint64_t stride = 0;  // from index to index
    std::uint64_t width = 0;
    std::uint32_t first_cell = 0;
    std::uint32_t end_cell = 0;
  };
  struct Pieces {
    std::uint32_t first = 0;
    std::uint32_t end = 0;
  };

  /// Room for all tiles, once the shapes' pieces are known.
  void reserve();
  Result<void> add_shape(const PartShape& shape);
  Result<void> add_run(const PartRun& run, std::uint32_t first_block);
  Result<void> add_tile(const PartRun& run, const Piece& piece, std::uint32_t first_block);

  const PartTable& table_;
  const RegionTable& regions_;
  const std::uint64_t max_tiles_;
  BlockPlan& plan_;
  RegionFinder finder_;
  std::vector<Piece> pieces_;
  std::vector<Pieces> pieces_of_shape_;
  std::vector<RemoteTile> remote_tiles_;
};

}  // namespace corail
