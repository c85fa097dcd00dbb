#include "engine/plan/block_plan.h"

#include <algorithm>

#include "engine/plan/even_search.h"

namespace corail {

std::size_t BlockPlan::interval_at(std::uint64_t linear) const noexcept {
  return last_at_or_before(intervals_, linear, total_bytes_);
}

std::size_t BlockPlan::cell_at(const Tile& tile, std::uint64_t offset) const noexcept {
  const Cell* const cells = &cells_[tile.first_cell];
  return tile.first_cell + last_at_or_before(tile.end_cell - tile.first_cell, offset, tile.width,
                                             [cells](std::size_t i) { return cells[i].offset; });
}

BlockPlan::Extent BlockPlan::segment_at(std::uint64_t linear) const noexcept {
  const Interval& interval = intervals_[interval_at(linear)];
  const Tile& tile = tiles_[interval.tile];
  const std::uint64_t within_row = (linear - interval.linear) % tile.width;
  const Cell& cell = cells_[cell_at(tile, within_row)];
  const std::uint64_t from = linear - within_row + cell.offset;
  return {from, from + cell.bytes};
}

std::uint64_t BlockPlan::cut_before(std::uint64_t end, std::uint64_t from, std::uint64_t want,
                                    std::uint64_t most) const noexcept {
  if (end - from <= want) return end;
  const Extent segment = segment_at(from + want);
  if (segment.from > from) return segment.from;
  return segment.to - from <= most ? segment.to : from + want;
}

std::uint64_t BlockPlan::cut_in(const Span& span, std::uint64_t from, std::uint64_t want,
                                std::uint64_t most) const noexcept {
  return cut_before(span.linear + span.length, from, want, most);
}

TilePlace BlockPlan::place_of(std::uint32_t block, std::uint32_t lane) const noexcept {
  if (part_places_) return part_places_->find(block, lane);
  const auto begin = run_places_.begin() + lane_first_run_[lane];
  const auto end = run_places_.begin() + lane_first_run_[lane + 1];
  const auto after =
      std::upper_bound(begin + 1, end, block, [this](std::uint32_t value, const TilePlace& place) {
        return value < begin_block(tiles_[place.tile]);
      });
  return *std::prev(after);
}

std::uint64_t BlockPlan::linear_of(std::uint32_t block, std::uint32_t lane) const noexcept {
  const TilePlace place = place_of(block, lane);
  const Tile& tile = tiles_[place.tile];
  const std::uint32_t row =
      tile.block_step > 0 ? block - tile.first_block : tile.first_block - block;
  const std::uint64_t row_linear = tile.dense
                                       ? interval_linear_[tile.first_interval] + row * tile.width
                                       : interval_linear_[tile.first_interval + row];
  return row_linear + cells_[place.cell].offset;
}

std::size_t BlockPlan::chunk_at(std::uint64_t linear) const noexcept {
  return last_at_or_before(chunks_, linear, total_bytes_);
}

BlockPlan::Place BlockPlan::locate(std::uint32_t block, std::uint32_t lane) const noexcept {
  const std::uint64_t linear = linear_of(block, lane);
  const std::size_t chunk = chunk_at(linear);
  return {static_cast<std::uint32_t>(chunk), linear - chunks_[chunk].linear,
          layout_->lane_bytes()[lane]};
}

std::uint64_t BlockPlan::copy_bytes() const noexcept { return blocks_ * layout_->block_bytes(); }

void BlockPlan::for_each_copy(std::uint64_t from, std::uint64_t to,
                              const std::function<void(const CopyPiece&)>& f) const {
  if (from >= to || from >= total_bytes_) return;
  std::size_t chunk = chunk_at(from);
  for_each_segment(
      from, to,
      [&](std::uint32_t block, std::uint32_t lane, std::uint64_t linear, std::uint32_t bytes) {
        // A border of what is asked for may cut the segment; its chunk's does not.
        const std::uint64_t begin = std::max(linear, from);
        const std::uint64_t end = std::min(linear + bytes, to);
        while (linear >= chunks_[chunk].linear + chunks_[chunk].bytes) ++chunk;
        CopyPiece piece;
        piece.chunk = static_cast<std::uint32_t>(chunk);
        piece.chunk_offset = begin - chunks_[chunk].linear;
        piece.length = end - begin;
        piece.copy_offset =
            block * layout_->block_bytes() + layout_->lane_offset(lane) + (begin - linear);
        f(piece);
      });
}

}  // namespace corail
