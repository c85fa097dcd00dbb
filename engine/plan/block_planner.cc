#include "engine/plan/block_planner.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/spread_sort.h"
#include "engine/base/units.h"
#include "engine/plan/part_tile_maker.h"
#include "engine/plan/run_extent.h"
#include "engine/plan/tile_maker.h"

namespace corail {

Result<BlockPlan> plan_block_read(const RunTable& runs, std::shared_ptr<const Layout> layout,
                                  std::uint32_t blocks, const RegionTable& regions,
                                  const PlanLimits& limits, LaneRange lanes) {
  const auto make_tiles = [&](BlockPlan& plan) -> Result<std::vector<RemoteTile>> {
    RunLimits run_limits;
    run_limits.max_runs = limits.max_runs;
    auto valid = validate(runs, plan.layout(), plan.blocks(), run_limits);
    if (!valid) return std::move(valid).error();
    return TileMaker(runs, regions, plan).make();
  };
  return BlockPlanner(std::move(layout), blocks, lanes, regions, limits).make(make_tiles);
}

Result<BlockPlan> plan_block_read(const PartTable& parts, std::shared_ptr<const Layout> layout,
                                  std::uint32_t blocks, const RegionTable& regions,
                                  const PlanLimits& limits, LaneRange lanes) {
  const auto make_tiles = [&](BlockPlan& plan) -> Result<std::vector<RemoteTile>> {
    auto valid = validate(parts, plan.layout(), plan.blocks(), limits.max_runs);
    if (!valid) return std::move(valid).error();
    return PartTileMaker(parts, regions, limits.max_intervals, plan).make();
  };
  return BlockPlanner(std::move(layout), blocks, lanes, regions, limits).make(make_tiles);
}

BlockPlanner::BlockPlanner(std::shared_ptr<const Layout> layout, std::uint32_t blocks,
                           LaneRange lanes, const RegionTable& regions, const PlanLimits& limits)
    : regions_(regions), limits_(limits) {
  plan_.layout_ = std::move(layout);
  plan_.blocks_ = blocks;
  plan_.lanes_ = lanes;
  plan_.max_read_bytes_ = std::min(limits.max_read_bytes, limits.max_chunk_bytes);
}

Result<BlockPlan> BlockPlanner::make(const MakeTiles& make_tiles) {
  if (auto checked = check_arguments(); !checked) return std::move(checked).error();
  plan_.lanes_.end = std::min(plan_.lanes_.end, plan_.layout().lanes());
  splits_segments_ = std::ranges::any_of(plan_.layout().lane_bytes(), [this](std::uint32_t bytes) {
    return bytes > plan_.max_read_bytes_;
  });
  if (auto counted = count_bytes(); !counted) return std::move(counted).error();
  auto tiles = make_tiles(plan_);
  if (!tiles) return std::move(tiles).error();
  remote_tiles_ = *std::move(tiles);
  if (auto numbered = number_intervals(); !numbered) return std::move(numbered).error();
  list_intervals();
  if (auto laid = lay_out(); !laid) return std::move(laid).error();
  return std::move(plan_);
}

Result<void> BlockPlanner::count_bytes() {
  std::uint64_t block_bytes = 0;  // a layout's sum does not overflow
  const auto sizes = plan_.layout().lane_bytes();
  for (std::uint32_t lane = plan_.lanes_.begin; lane < plan_.lanes_.end; ++lane) {
    block_bytes += sizes[lane];
  }
  const auto total = checked_mul(plan_.blocks_, block_bytes);
  if (!total || *total > limits_.max_total_bytes) {
    return Error(Errc::kTooLarge, Stage::kPlan,
                 fmt::format("{} blocks of {} bytes exceed the limit of {} bytes a read; ask for "
                             "fewer blocks",
                             plan_.blocks_, block_bytes, limits_.max_total_bytes));
  }
  plan_.total_bytes_ = *total;
  return ok_result();
}

Result<void> BlockPlanner::check_arguments() const {
  constexpr std::uint64_t kMostIndex = std::numeric_limits<std::uint32_t>::max();
  if (plan_.layout_ == nullptr || plan_.max_read_bytes_ == 0 || limits_.max_runs >= kMostIndex ||
      limits_.max_intervals >= kMostIndex) {
    return Error(Errc::kInvalidArgument, Stage::kPlan,
                 "a plan needs a layout, reads and chunks of at least a byte, and at most 2^32 - 2 "
                 "runs and intervals");
  }
  if (plan_.lanes_.begin >= std::min(plan_.lanes_.end, plan_.layout().lanes())) {
    return Error(Errc::kInvalidArgument, Stage::kPlan,
                 fmt::format("lanes {} to {} of {} are no lane", plan_.lanes_.begin,
                             plan_.lanes_.end, plan_.layout().lanes()));
  }
  const std::span<const std::uint32_t> sizes = plan_.layout().lane_bytes();
  const std::uint32_t largest = *std::max_element(sizes.begin(), sizes.end());
  if (largest > limits_.max_chunk_bytes) {
    return Error(Errc::kTooLarge, Stage::kPlan,
                 fmt::format("a segment of {} bytes does not fit into a chunk of {} bytes; raise "
                             "the chunk size",
                             largest, limits_.max_chunk_bytes));
  }
  return ok_result();
}

Result<void> BlockPlanner::number_intervals() {
  for (std::size_t i = 0; i < plan_.tiles_.size(); ++i) {
    BlockPlan::Tile& tile = plan_.tiles_[i];
    tile.dense = tile.width == stride_magnitude(remote_tiles_[i].stride);
    tile.first_interval = static_cast<std::uint32_t>(intervals_);
    intervals_ += tile.dense ? 1 : tile.rows;
    if (intervals_ > limits_.max_intervals) {
      return Error(Errc::kTooLarge, Stage::kPlan,
                   fmt::format("the blocks lie in more than {} separate ranges of the peer's "
                               "memory; ask for fewer blocks",
                               limits_.max_intervals));
    }
  }
  return ok_result();
}

void BlockPlanner::list_intervals() {
  remote_intervals_.reserve(intervals_);
  for (std::uint32_t i = 0; i < plan_.tiles_.size(); ++i) {
    const std::uint32_t intervals = plan_.tiles_[i].dense ? 1 : plan_.tiles_[i].rows;
    std::uint64_t address = remote_tiles_[i].low;
    const std::uint64_t stride = stride_magnitude(remote_tiles_[i].stride);
    for (std::uint32_t row = 0; row < intervals; ++row) {
      remote_intervals_.push_back({address, i, row});
      address += stride;
    }
  }
  sort_spread(remote_intervals_, [](const RemoteInterval& one) { return one.address; });
}

std::uint64_t BlockPlanner::length_of(const RemoteInterval& interval) const {
  const BlockPlan::Tile& tile = plan_.tiles_[interval.tile];
  return tile.dense ? tile.rows * tile.width : tile.width;
}

std::size_t BlockPlanner::count_stretches() const {
  // Touching regions are not told apart: a lower bound, to reserve by.
  std::size_t stretches = 0;
  std::uint64_t end = 0;
  for (const RemoteInterval& interval : remote_intervals_) {
    if (interval.address != end) ++stretches;
    end = interval.address + length_of(interval);
  }
  return stretches;
}

Result<void> BlockPlanner::lay_out() {
  plan_.spans_.reserve(count_stretches());
  plan_.intervals_.reserve(intervals_);
  plan_.interval_linear_.resize(intervals_);
  Stretch stretch;
  std::uint64_t linear = 0;
  std::uint64_t remote_end = 0;
  for (const RemoteInterval& interval : remote_intervals_) {
    const bool first = plan_.intervals_.empty();
    if (!first && interval.address < remote_end) {
      return Error(Errc::kBadRunTable, Stage::kPlan,
                   fmt::format("two segments share the byte at {:#x}; the peer's run table is "
                               "unusable",
                               interval.address));
    }
    const std::uint32_t region = remote_tiles_[interval.tile].region;
    if (first || interval.address != remote_end || region != stretch.region) {
      if (!first) split(stretch, linear);
      stretch = {linear, interval.address, region};
    }
    const std::uint64_t length = length_of(interval);
    plan_.intervals_.push_back({linear, interval.tile, interval.row});
    plan_.interval_linear_[plan_.tiles_[interval.tile].first_interval + interval.row] = linear;
    linear += length;
    remote_end = interval.address + length;
  }
  split(stretch, linear);
  CORAIL_CHECK(linear == plan_.total_bytes_,
               "I3: a plan reads what was asked for, no more or less");
  return ok_result();
}

void BlockPlanner::split(const Stretch& stretch, std::uint64_t end) {
  const std::uint64_t max_read = plan_.max_read_bytes_;
  if (plan_.chunks_.empty() || chunk_region_ != stretch.region) {
    open_chunk(stretch.linear, stretch.region);
  }
  std::uint64_t span_from = stretch.linear;
  std::uint64_t border = stretch.linear;  // the last READ's end that is also a segment's
  for (std::uint64_t from = stretch.linear; from < end; ++plan_.reads_planned_) {
    std::uint64_t next = plan_.cut_before(end, from, max_read, max_read);
    // Chunks end where READs end anyhow, so that they cost no READ of their own.
    if (next - plan_.chunks_.back().linear > limits_.max_chunk_bytes) {
      if (border > plan_.chunks_.back().linear) {
        if (border > span_from) add_span(stretch, span_from, border);
        open_chunk(border, stretch.region);
        span_from = border;
      }
      // The end of a large segment together with what follows it may still be too much.
      if (next - border > limits_.max_chunk_bytes) next = plan_.segment_at(from).to;
    }
    from = next;
    if (!splits_segments_ || next == end || plan_.segment_at(next).from == next) border = next;
  }
  add_span(stretch, span_from, end);
}

void BlockPlanner::open_chunk(std::uint64_t linear, std::uint32_t region) {
  plan_.chunks_.push_back({linear, 0, regions_.regions()[region].numa_node});
  chunk_region_ = region;
}

void BlockPlanner::add_span(const Stretch& stretch, std::uint64_t from, std::uint64_t to) {
  ChunkSpec& chunk = plan_.chunks_.back();
  const Region& region = regions_.regions()[stretch.region];
  BlockPlan::Span span;
  span.linear = from;
  span.length = to - from;
  span.remote_address = stretch.address + (from - stretch.linear);
  span.remote_offset = span.remote_address - region.base;
  span.chunk_offset = from - chunk.linear;
  span.region = stretch.region;
  span.chunk = static_cast<std::uint32_t>(plan_.chunks_.size() - 1);
  span.region_id = region.id;
  chunk.bytes += span.length;
  plan_.spans_.push_back(span);
}

}  // namespace corail
