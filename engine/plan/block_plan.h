#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/region_table.h"
#include "engine/base/result.h"
#include "engine/plan/lane_range.h"
#include "engine/plan/layout.h"
#include "engine/plan/part_places.h"
#include "engine/plan/part_table.h"
#include "engine/plan/read_plan.h"
#include "engine/plan/run_table.h"

namespace corail {

/// How the blocks of one answer are read: which remote ranges, and where their bytes go.
///
/// The linear space is the local chunks back to back, in linear order, filled in remote address
/// order. Its size is exactly what was asked for (I3). A piece is a segment: a block's bytes of one
/// lane. Shared by all rails and by the view of the result.
class BlockPlan final : public ReadPlan {
 public:
  /// Where one segment lies locally.
  struct Place {
    std::uint32_t chunk = 0;
    std::uint64_t offset = 0;  // from the chunk's start
    std::uint32_t bytes = 0;
  };

  std::uint32_t blocks() const noexcept { return blocks_; }
  const Layout& layout() const noexcept { return *layout_; }
  const std::shared_ptr<const Layout>& shared_layout() const noexcept { return layout_; }
  /// The lanes that are read; `end` is at most the layout's number of lanes.
  LaneRange lane_range() const noexcept { return lanes_; }

  std::uint64_t cut_in(const Span& span, std::uint64_t from, std::uint64_t want,
                       std::uint64_t most) const noexcept override;

  /// Block after block, the lanes of a block in their order (Layout::lane_offset); also where only
  /// some lanes are read.
  std::uint64_t copy_bytes() const noexcept override;
  void for_each_copy(std::uint64_t from, std::uint64_t to,
                     const std::function<void(const CopyPiece&)>& f) const override;

  /// Where the segment of `block` (below blocks()) and `lane` (inside lane_range()) starts in the
  /// linear space. Arithmetic over the runs. O(log runs of the lane).
  std::uint64_t linear_of(std::uint32_t block, std::uint32_t lane) const noexcept;
  /// Index of the chunk that holds byte `linear`, below total_bytes(). O(log chunks).
  std::size_t chunk_at(std::uint64_t linear) const noexcept;
  /// The same as chunk and offset; a segment lies in one chunk. O(log runs + log chunks).
  Place locate(std::uint32_t block, std::uint32_t lane) const noexcept;

  /// Calls f(block, lane, linear, bytes) for each segment that overlaps [from, to), in linear
  /// order, with the segment's whole extent. A few nanoseconds each.
  template <typename F>
  void for_each_segment(std::uint64_t from, std::uint64_t to, F&& f) const;

 private:
  friend class BlockPlanner;
  friend class PartTileMaker;
  friend class TileMaker;

  /// One lane within a row of a tile.
  struct Cell {
    std::uint64_t offset = 0;  // from the row's start
    std::uint32_t lane = 0;
    std::uint32_t bytes = 0;
  };
  /// Runs of equal blocks and stride whose segments abut: `rows` rows of `width` bytes, each the
  /// same cells of one block. Dense when the rows abut as well; else each is an interval by itself.
  /// Tiles of the same lanes share their cells.
  struct Tile {
    std::uint64_t width = 0;
    std::uint32_t rows = 0;
    std::uint32_t first_block = 0;  // of row 0
    std::uint32_t first_cell = 0;
    std::uint32_t end_cell = 0;
    std::uint32_t first_interval = 0;  // index in interval_linear_
    std::int8_t block_step = 1;        // +1, or -1 where addresses descend with blocks
    bool dense = false;
  };
  /// A remote range that is contiguous by its tile alone; the table is in linear order.
  struct Interval {
    std::uint64_t linear = 0;
    std::uint32_t tile = 0;
    std::uint32_t row = 0;  // first of its rows: all of a dense tile, else one
  };
  BlockPlan() = default;

  /// The lowest block of the tile's rows.
  static std::uint32_t begin_block(const Tile& tile) noexcept {
    return tile.block_step > 0 ? tile.first_block : tile.first_block - (tile.rows - 1);
  }
  TilePlace place_of(std::uint32_t block, std::uint32_t lane) const noexcept;
  std::size_t interval_at(std::uint64_t linear) const noexcept;
  std::size_t cell_at(const Tile& tile, std::uint64_t offset) const noexcept;
  /// A segment's extent in the linear space.
  struct Extent {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
  };
  Extent segment_at(std::uint64_t linear) const noexcept;
  std::uint64_t cut_before(std::uint64_t end, std::uint64_t from, std::uint64_t want,
                           std::uint64_t most) const noexcept;

  std::shared_ptr<const Layout> layout_;
  LaneRange lanes_;
  std::uint32_t blocks_ = 0;
  std::vector<Cell> cells_;
  std::vector<Tile> tiles_;
  std::vector<Interval> intervals_;
  std::vector<std::uint64_t> interval_linear_;  // by tile and row: where that interval went
  // Which tile a segment is in: by run of its lane, or in a plan made of a part table by its part.
  std::vector<TilePlace> run_places_;
  std::vector<std::uint32_t> lane_first_run_;  // lanes + 1
  std::optional<PartPlaces> part_places_;
};

/// Plans the read of `blocks` blocks of `layout`, or of some of their lanes, from where `runs` says
/// they lie. The table comes
/// from the peer and is checked here in full (I5), `layout` and `blocks` are the requester's own.
/// Every run must lie in one region of `regions`; no byte may be demanded twice. Cost grows with
/// runs and blocks, with segments only where each is a READ of its own (I10). Fails with
/// kBadRunTable, kTooLarge (a limit), kInvalidArgument (the caller's own values, such as a range
/// without a lane).
Result<BlockPlan> plan_block_read(const RunTable& runs, std::shared_ptr<const Layout> layout,
                                  std::uint32_t blocks, const RegionTable& regions,
                                  const PlanLimits& limits, LaneRange lanes = {});

/// The same from a part table: the work is per run of a part and per piece of a shape.
Result<BlockPlan> plan_block_read(const PartTable& parts, std::shared_ptr<const Layout> layout,
                                  std::uint32_t blocks, const RegionTable& regions,
                                  const PlanLimits& limits, LaneRange lanes = {});

template <typename F>
void BlockPlan::for_each_segment(std::uint64_t from, std::uint64_t to, F&& f) const {
  if (from >= to || from >= total_bytes_) return;
  for (std::size_t i = interval_at(from); i < intervals_.size(); ++i) {
    const Interval& interval = intervals_[i];
    if (interval.linear >= to) return;
    const Tile& tile = tiles_[interval.tile];
    const std::uint32_t end_row = tile.dense ? tile.rows : interval.row + 1;
    std::uint32_t row = interval.row;
    std::uint64_t row_linear = interval.linear;
    std::size_t cell = tile.first_cell;
    if (from > interval.linear) {
      const std::uint64_t skipped = (from - interval.linear) / tile.width;
      row += static_cast<std::uint32_t>(skipped);
      row_linear += skipped * tile.width;
      cell = cell_at(tile, from - row_linear);
    }
    for (; row < end_row; ++row, row_linear += tile.width) {
      const std::uint32_t block =
          tile.block_step > 0 ? tile.first_block + row : tile.first_block - row;
      for (; cell < tile.end_cell; ++cell) {
        const Cell& it = cells_[cell];
        const std::uint64_t linear = row_linear + it.offset;
        if (linear >= to) return;
        f(block, it.lane, linear, it.bytes);
      }
      cell = tile.first_cell;
    }
  }
}

}  // namespace corail
