#include "engine/plan/block_planner.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "engine/base/check.h"

namespace corail {

Result<BlockPlan> plan_block_read(RunTable runs, std::shared_ptr<const Layout> layout,
                                  std::uint32_t blocks, const RegionTable& regions,
                                  const PlanLimits& limits) {
  return BlockPlanner(runs, std::move(layout), blocks, regions, limits).make();
}

BlockPlanner::BlockPlanner(const RunTable& runs, std::shared_ptr<const Layout> layout,
                           std::uint32_t blocks, const RegionTable& regions,
                           const PlanLimits& limits)
    : runs_(runs), blocks_(blocks), regions_(regions), limits_(limits) {
  plan_.layout_ = std::move(layout);
  plan_.blocks_ = blocks;
  plan_.max_read_bytes_ = std::min(limits.max_read_bytes, limits.max_chunk_bytes);
}

Result<BlockPlan> BlockPlanner::make() {
  if (auto checked = check_arguments(); !checked) return std::move(checked).error();
  if (auto valid = validate(runs_, plan_.layout(), blocks_,
                            RunLimits{limits_.max_runs, limits_.max_total_bytes});
      !valid) {
    return std::move(valid).error();
  }
  splits_segments_ = std::ranges::any_of(plan_.layout().lane_bytes(), [this](std::uint32_t bytes) {
    return bytes > plan_.max_read_bytes_;
  });
  plan_.total_bytes_ = blocks_ * plan_.layout().block_bytes();  // validate() saw that it fits
  sort_by_first_block();
  if (auto made = make_tiles(); !made) return std::move(made).error();
  list_intervals();
  if (auto laid = lay_out(); !laid) return std::move(laid).error();
  return std::move(plan_);
}

Result<void> BlockPlanner::check_arguments() const {
  constexpr std::uint64_t kMostIndex = std::numeric_limits<std::uint32_t>::max();
  if (plan_.layout_ == nullptr || plan_.max_read_bytes_ == 0 || limits_.max_runs >= kMostIndex ||
      limits_.max_intervals >= kMostIndex) {
    return Error(Errc::kInvalidArgument, Stage::kPlan,
                 "a plan needs a layout, reads and chunks of at least a byte, and at most 2^32 - 2 "
                 "runs and intervals");
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

/// Calls f(run, lane, first block) for each run of the table, in its order.
template <typename F>
void BlockPlanner::for_each_run(F f) const {
  std::uint32_t run = 0;
  for (std::uint32_t lane = 0; lane < plan_.layout().lanes(); ++lane) {
    const std::uint32_t end = run + runs_.runs_per_lane[lane];
    for (std::uint32_t block = 0; run < end; block += runs_.count[run++]) f(run, lane, block);
  }
}

void BlockPlanner::sort_by_first_block() {
  plan_.lane_first_run_.reserve(plan_.layout().lanes() + std::size_t{1});
  plan_.lane_first_run_.push_back(0);
  for (const std::uint32_t runs : runs_.runs_per_lane) {
    plan_.lane_first_run_.push_back(plan_.lane_first_run_.back() + runs);
  }
  // A counting sort: linear, and it keeps the lanes of a group in order.
  group_begin_.assign(std::size_t{blocks_} + 2, 0);
  for_each_run([this](std::uint32_t, std::uint32_t, std::uint32_t first_block) {
    ++group_begin_[std::size_t{first_block} + 2];
  });
  for (std::size_t i = 2; i < group_begin_.size(); ++i) group_begin_[i] += group_begin_[i - 1];
  by_first_block_.resize(runs_.runs());
  for_each_run([this](std::uint32_t run, std::uint32_t lane, std::uint32_t first_block) {
    by_first_block_[group_begin_[std::size_t{first_block} + 1]++] = {run, lane};
  });
}

Result<void> BlockPlanner::make_tiles() {
  plan_.run_places_.resize(runs_.runs());
  for (std::uint32_t block = 0; block < blocks_; ++block) {
    const std::size_t begin = group_begin_[block];
    const std::size_t end = group_begin_[std::size_t{block} + 1];
    if (begin == end) continue;
    const auto group = std::span<const RunOfLane>(by_first_block_).subspan(begin, end - begin);
    load_keys(group);
    if (auto made = make_group(group, block); !made) return made;
  }
  return number_intervals();
}

void BlockPlanner::load_keys(std::span<const RunOfLane> group) {
  // The lanes of one group after another usually lie in the same order in memory, so the order of
  // the group before saves most sorts.
  const bool guess = key_order_.size() == group.size();
  keys_.clear();
  for (std::uint32_t i = 0; i < group.size(); ++i) {
    const std::uint32_t position = guess ? key_order_[i] : i;
    const std::uint32_t run = group[position].run;
    const std::uint32_t count = runs_.count[run];
    const std::int64_t stride = count == 1 ? 0 : runs_.stride[run];
    const std::uint64_t below =
        stride < 0 ? stride_magnitude(stride) * (count - std::uint64_t{1}) : 0;
    keys_.push_back({runs_.base[run] - below, stride, count, position});
  }
  const auto order = [](const RunKey& a, const RunKey& b) {
    return std::tie(a.count, a.stride, a.low) < std::tie(b.count, b.stride, b.low);
  };
  const bool sorted = std::is_sorted(keys_.begin(), keys_.end(), order);
  if (!sorted) std::sort(keys_.begin(), keys_.end(), order);
  if (!sorted || !guess) {
    key_order_.clear();
    for (const RunKey& key : keys_) key_order_.push_back(key.position);
  }
}

Result<void> BlockPlanner::make_group(std::span<const RunOfLane> group, std::uint32_t first_block) {
  const std::span<const std::uint32_t> lane_bytes = plan_.layout().lane_bytes();
  twin_tile_ = std::exchange(group_tile_, plan_.tiles_.size());
  std::size_t begin_key = 0;  // of the tile at hand
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const RunKey& key = keys_[i];
    const RunOfLane run = group[key.position];
    const std::uint32_t bytes = lane_bytes[run.lane];
    auto region = region_of(key, run);
    if (!region) return std::move(region).error();
    if (i == 0 || !extends_tile(key, *region, bytes)) {
      if (i > 0) close_tile(group, begin_key, i);
      open_tile(key, *region, first_block);
      begin_key = i;
    }
    BlockPlan::Tile& tile = plan_.tiles_.back();
    plan_.cells_.push_back({tile.width, run.lane, bytes});
    tile.width += bytes;
    ++tile.end_cell;
  }
  close_tile(group, begin_key, keys_.size());
  return ok_result();
}

Result<std::uint32_t> BlockPlanner::region_of(const RunKey& key, RunOfLane run) {
  const std::uint32_t bytes = plan_.layout().lane_bytes()[run.lane];
  const std::uint64_t length =
      stride_magnitude(key.stride) * (key.count - std::uint64_t{1}) + bytes;
  const std::span<const Region> regions = regions_.regions();
  if (region_guess_ < regions.size()) {
    const Region& guess = regions[region_guess_];
    const std::uint64_t offset = key.low - guess.base;
    if (key.low >= guess.base && offset < guess.length && length <= guess.length - offset) {
      return region_guess_;
    }
  }
  const std::ptrdiff_t found = regions_.find(key.low, length);
  if (found < 0) {
    return Error(Errc::kBadRunTable, Stage::kPlan,
                 fmt::format("run {} of lane {} (addresses {:#x} to {:#x}) lies in none of the {} "
                             "regions that the peer published, or crosses the border of one",
                             run.run, run.lane, key.low, key.low + length, regions.size()));
  }
  region_guess_ = static_cast<std::uint32_t>(found);
  return region_guess_;
}

bool BlockPlanner::extends_tile(const RunKey& key, std::uint32_t region,
                                std::uint32_t bytes) const {
  const BlockPlan::Tile& tile = plan_.tiles_.back();
  const RemoteTile& remote = remote_tiles_.back();
  // Rows wider than the stride would overlap; the runs are kept apart, and the overlap is found
  // once the intervals are sorted.
  const bool fits = key.count == 1 || tile.width + bytes <= stride_magnitude(key.stride);
  return key.count == tile.rows && key.stride == remote.stride && region == remote.region &&
         key.low == remote.low + tile.width && fits;
}

void BlockPlanner::open_tile(const RunKey& key, std::uint32_t region, std::uint32_t first_block) {
  BlockPlan::Tile tile;
  tile.rows = key.count;
  tile.block_step = key.stride < 0 ? -1 : 1;
  tile.first_block = key.stride < 0 ? first_block + (key.count - 1) : first_block;
  tile.first_cell = static_cast<std::uint32_t>(plan_.cells_.size());
  tile.end_cell = tile.first_cell;
  plan_.tiles_.push_back(tile);
  remote_tiles_.push_back({key.low, key.stride, region});
}

void BlockPlanner::close_tile(std::span<const RunOfLane> group, std::size_t begin_key,
                              std::size_t end_key) {
  BlockPlan::Tile& tile = plan_.tiles_.back();
  // Blocks saved apart mostly have the same lanes in the same order; the cells of the group before
  // then serve again, and the plan stays small although the prefix is in pieces.
  if (twin_tile_ < group_tile_) {
    const BlockPlan::Tile& twin = plan_.tiles_[twin_tile_++];
    const auto cells = plan_.cells_.begin();
    const bool equal = std::equal(
        cells + twin.first_cell, cells + twin.end_cell, cells + tile.first_cell,
        cells + tile.end_cell,
        [](const BlockPlan::Cell& a, const BlockPlan::Cell& b) { return a.lane == b.lane; });
    if (equal) {
      plan_.cells_.resize(tile.first_cell);
      tile.first_cell = twin.first_cell;
      tile.end_cell = twin.end_cell;
    }
  }
  const auto index = static_cast<std::uint32_t>(plan_.tiles_.size() - 1);
  std::uint32_t cell = tile.first_cell;
  for (std::size_t i = begin_key; i < end_key; ++i) {
    plan_.run_places_[group[keys_[i].position].run] = {index, cell++};
  }
}

Result<void> BlockPlanner::number_intervals() {
  for (std::size_t i = 0; i < plan_.tiles_.size(); ++i) {
    BlockPlan::Tile& tile = plan_.tiles_[i];
    tile.dense = tile.rows == 1 || tile.width == stride_magnitude(remote_tiles_[i].stride);
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
  const auto order = [](const RemoteInterval& a, const RemoteInterval& b) {
    return a.address < b.address;
  };
  if (!std::is_sorted(remote_intervals_.begin(), remote_intervals_.end(), order)) {
    std::sort(remote_intervals_.begin(), remote_intervals_.end(), order);
  }
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
