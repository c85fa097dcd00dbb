#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/region_table.h"
#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/plan/lane_range.h"
#include "engine/plan/layout.h"
#include "engine/plan/part_places.h"
#include "engine/plan/part_table.h"
#include "engine/plan/run_table.h"

namespace corail {

/// What a plan may at most demand, and how it is split. Sizes in bytes.
struct PlanLimits {
  std::uint64_t max_read_bytes = 32 * kMiB;    // one READ; the transports' limit at the most
  std::uint64_t max_chunk_bytes = 256 * kMiB;  // one local allocation
  std::uint64_t max_total_bytes = 64 * kGiB;   // everything the plan reads
  std::uint64_t max_runs = 4'194'304;          // of the remote table
  std::uint64_t max_intervals = 4'194'304;     // remote ranges before they are fused
};

/// One local allocation of a plan.
struct ChunkSpec {
  std::uint64_t linear = 0;    // where it starts in the plan's linear space
  std::uint64_t bytes = 0;     // at least 1, at most PlanLimits::max_chunk_bytes
  std::int32_t numa_node = 0;  // of the region that fills it
};

/// How the blocks of one answer are read: which remote ranges, and where their bytes go.
///
/// The plan's bytes form a linear space [0, total_bytes()): the local chunks back to back, filled
/// in remote address order. Its size is exactly what was asked for (I3). Immutable once made,
/// shared as std::shared_ptr<const BlockPlan> by all rails and by the view of the result; any
/// thread.
class BlockPlan {
 public:
  /// Contiguous at both ends: inside one remote region and one local chunk (I4).
  struct Span {
    std::uint64_t linear = 0;
    std::uint64_t length = 0;
    std::uint64_t remote_address = 0;
    std::uint64_t remote_offset = 0;  // from the region's base
    std::uint64_t chunk_offset = 0;
    std::uint32_t region = 0;  // index in the RegionTable that the plan was made with
    std::uint32_t chunk = 0;   // index in chunks()
    RegionId region_id;
  };

  /// Where one segment lies locally.
  struct Place {
    std::uint32_t chunk = 0;
    std::uint64_t offset = 0;  // from the chunk's start
    std::uint32_t bytes = 0;
  };

  std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  std::uint32_t blocks() const noexcept { return blocks_; }
  const Layout& layout() const noexcept { return *layout_; }
  const std::shared_ptr<const Layout>& shared_layout() const noexcept { return layout_; }
  /// The lanes that are read; `end` is at most the layout's number of lanes.
  LaneRange lane_range() const noexcept { return lanes_; }
  /// READs when every span is cut at max_read_bytes: fused, and split on segment borders.
  std::uint64_t reads_planned() const noexcept { return reads_planned_; }
  /// PlanLimits::max_read_bytes, or max_chunk_bytes where that is less.
  std::uint64_t max_read_bytes() const noexcept { return max_read_bytes_; }
  /// What to allocate locally, in linear order.
  std::span<const ChunkSpec> chunks() const noexcept { return chunks_; }
  /// In linear order, without gaps, each as long as region, chunk and remote contiguity allow.
  std::span<const Span> spans() const noexcept { return spans_; }

  /// The span that holds byte `linear`, which must be below total_bytes(). O(log spans).
  const Span& span_at(std::uint64_t linear) const noexcept;

  /// End of the slice that starts at `from` (below total_bytes()) and wants `want` bytes (at least
  /// 1): inside one span, on the last segment border within `want` bytes. Where no border is that
  /// near, the slice ends on the next border within `most` bytes, and where there is none either,
  /// `want` bytes on, inside a segment. O(log spans + log lanes).
  std::uint64_t cut(std::uint64_t from, std::uint64_t want, std::uint64_t most) const noexcept;
  std::uint64_t cut(std::uint64_t from, std::uint64_t want) const noexcept {
    return cut(from, want, want);
  }
  /// The same when the caller knows the span that holds `from`.
  std::uint64_t cut_in(const Span& span, std::uint64_t from, std::uint64_t want,
                       std::uint64_t most) const noexcept;

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
  std::uint64_t total_bytes_ = 0;
  std::uint64_t reads_planned_ = 0;
  std::uint64_t max_read_bytes_ = 0;
  std::uint32_t blocks_ = 0;
  std::vector<ChunkSpec> chunks_;
  std::vector<Span> spans_;
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
