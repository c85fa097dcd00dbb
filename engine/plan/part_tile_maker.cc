#include "engine/plan/part_tile_maker.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "engine/base/units.h"
#include "engine/plan/run_extent.h"

namespace corail {
namespace {

Error unusable_run(std::string_view what) {
  return {Errc::kBadRunTable, Stage::kPlan,
          fmt::format("a run {}; the peer's part table is unusable", what)};
}

/// a + b * c as a step from block to block, or false where it does not fit. The largest magnitude
/// is left out: its negative is no step either.
bool step_of(std::int64_t base_step, std::int64_t index_step, std::uint64_t stride,
             std::int64_t& step) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto scaled = checked_mul(stride_magnitude(index_step), stride);
  if (!scaled || *scaled > kMost) return false;
  const auto part = static_cast<std::int64_t>(*scaled);
  return !__builtin_add_overflow(base_step, index_step < 0 ? -part : part, &step);
}

}  // namespace

PartTileMaker::PartTileMaker(const PartTable& table, const RegionTable& regions,
                             std::uint64_t max_tiles, BlockPlan& plan)
    : table_(table), regions_(regions), max_tiles_(max_tiles), plan_(plan), finder_(regions) {}

Result<std::vector<RemoteTile>> PartTileMaker::make() {
  plan_.part_places_.emplace(plan_.layout().lanes());
  for (const auto& set : table_.lane_sets) plan_.part_places_->add_lane_set(set);
  for (const PartShape& shape : table_.shapes) {
    if (auto added = add_shape(shape); !added) return std::move(added).error();
  }
  reserve();
  std::uint32_t phase_begin = 0;
  for (const PartPhase& phase : table_.phases) {
    plan_.part_places_->begin_phase(phase_begin);
    for (const PartColumn& column : phase.columns) {
      plan_.part_places_->begin_column(table_.lane_sets[column.lane_set]);
      std::uint32_t block = phase_begin;
      for (const PartRun& run : column.runs) {
        if (auto added = add_run(run, block); !added) return std::move(added).error();
        block += run.count;
      }
    }
    phase_begin += phase.blocks;
  }
  return std::move(remote_tiles_);
}

void PartTileMaker::reserve() {
  std::size_t runs = 0;
  std::uint64_t tiles = 0;
  for (const PartPhase& phase : table_.phases) {
    for (const PartColumn& column : phase.columns) {
      runs += column.runs.size();
      for (const PartRun& run : column.runs) {
        const Pieces pieces = pieces_of_shape_[run.shape];
        tiles += pieces.end - pieces.first;
      }
    }
  }
  tiles = std::min(tiles, max_tiles_);
  plan_.part_places_->reserve(runs);
  plan_.tiles_.reserve(tiles);
  remote_tiles_.reserve(tiles);
}

Result<void> PartTileMaker::add_shape(const PartShape& shape) {
  const std::vector<std::uint32_t>& lanes = table_.lane_sets[shape.lane_set];
  const auto stride_of = [&shape](std::uint32_t rank) {
    return shape.stride.size() == 1 ? shape.stride[0] : shape.stride[rank];
  };
  std::vector<std::uint32_t> ranks;  // of the lanes that are read, by offset
  for (std::uint32_t rank = 0; rank < lanes.size(); ++rank) {
    if (plan_.lane_range().contains(lanes[rank])) ranks.push_back(rank);
  }
  const auto by_offset = [&shape](std::uint32_t a, std::uint32_t b) {
    return shape.offset[a] < shape.offset[b];
  };
  if (!std::is_sorted(ranks.begin(), ranks.end(), by_offset)) {
    std::stable_sort(ranks.begin(), ranks.end(), by_offset);
  }
  const auto first = static_cast<std::uint32_t>(pieces_.size());
  std::vector<TilePlace> places(lanes.size());
  std::uint64_t end = 0;  // of the last segment, from the base
  for (const std::uint32_t rank : ranks) {
    const std::uint32_t bytes = plan_.layout().lane_bytes()[lanes[rank]];
    const auto cell = static_cast<std::uint32_t>(plan_.cells_.size());
    const bool extends = pieces_.size() > first && shape.offset[rank] == end &&
                         stride_of(rank) == pieces_.back().stride;
    if (!extends) pieces_.push_back({shape.offset[rank], stride_of(rank), 0, cell, cell});
    Piece& piece = pieces_.back();
    places[rank] = {static_cast<std::uint32_t>(pieces_.size() - 1 - first), cell};
    plan_.cells_.push_back({piece.width, lanes[rank], bytes});
    piece.width += bytes;
    ++piece.end_cell;
    const auto next = checked_add(shape.offset[rank], bytes);
    if (!next) return unusable_run("has a shape that ends past 2^64");
    end = *next;
  }
  pieces_of_shape_.push_back({first, static_cast<std::uint32_t>(pieces_.size())});
  plan_.part_places_->add_shape(shape.lane_set, std::move(places));
  return ok_result();
}

Result<void> PartTileMaker::add_run(const PartRun& run, std::uint32_t first_block) {
  const Pieces pieces = pieces_of_shape_[run.shape];
  if (plan_.tiles_.size() + (pieces.end - pieces.first) > max_tiles_) {
    return Error(Errc::kTooLarge, Stage::kPlan,
                 fmt::format("the blocks lie in more than {} separate ranges of the peer's memory; "
                             "ask for fewer blocks",
                             max_tiles_));
  }
  plan_.part_places_->add_run(run.shape, first_block,
                              static_cast<std::uint32_t>(plan_.tiles_.size()));
  for (std::uint32_t piece = pieces.first; piece < pieces.end; ++piece) {
    if (auto added = add_tile(run, pieces_[piece], first_block); !added) return added;
  }
  return ok_result();
}

Result<void> PartTileMaker::add_tile(const PartRun& run, const Piece& piece,
                                     std::uint32_t first_block) {
  const auto indexed = checked_mul(run.index, piece.stride);
  const auto within = indexed ? checked_add(*indexed, piece.offset) : std::nullopt;
  const auto address = within ? checked_add(*within, run.base) : std::nullopt;
  if (!address) return unusable_run("starts past 2^64");
  std::int64_t step = 0;
  if (run.count > 1 && !step_of(run.base_step, run.index_step, piece.stride, step)) {
    return unusable_run("has a step that passes 2^63");
  }
  const std::string_view wrong = check_extent(*address, step, run.count, piece.width);
  if (!wrong.empty()) return unusable_run(wrong);
  const std::uint64_t extent = stride_magnitude(step) * (run.count - std::uint64_t{1});
  const std::uint64_t low = step < 0 ? *address - extent : *address;
  const auto region = finder_.find(low, extent + piece.width);
  if (!region) {
    return unusable_run(
        fmt::format("(addresses {:#x} to {:#x}) lies in none of the {} regions that the "
                    "peer published, or crosses the border of one",
                    low, low + extent + piece.width, regions_.regions().size()));
  }
  BlockPlan::Tile tile;
  tile.width = piece.width;
  tile.rows = run.count;
  tile.block_step = step < 0 ? -1 : 1;
  tile.first_block = step < 0 ? first_block + (run.count - 1) : first_block;
  tile.first_cell = piece.first_cell;
  tile.end_cell = piece.end_cell;
  plan_.tiles_.push_back(tile);
  remote_tiles_.push_back({low, step, *region});
  return ok_result();
}

}  // namespace corail
