#include "engine/plan/tile_maker.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "engine/plan/run_extent.h"

namespace corail {
namespace {

/// Blocks per run from which on sorting by comparison is cheaper than counting.
constexpr std::size_t kRunsWorthCounting = 8;

}  // namespace

TileMaker::TileMaker(const RunTable& runs, const RegionTable& regions, BlockPlan& plan)
    : runs_(runs), regions_(regions), plan_(plan), finder_(regions) {}

/// Calls f(run, lane, first block) for each run of the lanes that are read, in the table's order.
template <typename F>
void TileMaker::for_each_run(F f) const {
  const LaneRange lanes = plan_.lane_range();
  for (std::uint32_t lane = lanes.begin; lane < lanes.end; ++lane) {
    std::uint32_t run = plan_.lane_first_run_[lane];
    const std::uint32_t end = plan_.lane_first_run_[lane + 1];
    for (std::uint32_t block = 0; run < end; block += runs_.count[run++]) f(run, lane, block);
  }
}

void TileMaker::list_runs() {
  plan_.lane_first_run_.reserve(plan_.layout().lanes() + std::size_t{1});
  plan_.lane_first_run_.push_back(0);
  for (const std::uint32_t runs : runs_.runs_per_lane) {
    plan_.lane_first_run_.push_back(plan_.lane_first_run_.back() + runs);
  }
  by_first_block_.reserve(runs_.runs());
  for_each_run([this](std::uint32_t run, std::uint32_t lane, std::uint32_t first_block) {
    by_first_block_.push_back({run, lane, first_block});
  });
}

/// Stable, so that the lanes of a group stay in order.
void TileMaker::sort_by_first_block() {
  const auto before = [](const RunOfLane& a, const RunOfLane& b) {
    return a.first_block < b.first_block;
  };
  std::vector<RunOfLane>& runs = by_first_block_;
  if (std::is_sorted(runs.begin(), runs.end(), before)) return;
  // A counting sort costs what there are blocks and runs. Few runs must not pay for many blocks.
  if (runs.size() < plan_.blocks_ / kRunsWorthCounting) {
    std::stable_sort(runs.begin(), runs.end(), before);
    return;
  }
  std::vector<std::uint32_t> next(std::size_t{plan_.blocks_} + 1, 0);  // by first block
  for (const RunOfLane& run : runs) ++next[std::size_t{run.first_block} + 1];
  for (std::size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  std::vector<RunOfLane> sorted(runs.size());
  for (const RunOfLane& run : runs) sorted[next[run.first_block]++] = run;
  runs = std::move(sorted);
}

Result<std::vector<RemoteTile>> TileMaker::make() {
  list_runs();
  sort_by_first_block();
  plan_.run_places_.resize(runs_.runs());
  const std::span<const RunOfLane> runs(by_first_block_);
  for (std::size_t begin = 0; begin < runs.size();) {
    std::size_t end = begin + 1;
    while (end < runs.size() && runs[end].first_block == runs[begin].first_block) ++end;
    const auto group = runs.subspan(begin, end - begin);
    load_keys(group);
    auto made = make_group(group, runs[begin].first_block);
    if (!made) return std::move(made).error();
    begin = end;
  }
  return std::move(remote_tiles_);
}

void TileMaker::load_keys(std::span<const RunOfLane> group) {
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

Result<void> TileMaker::make_group(std::span<const RunOfLane> group, std::uint32_t first_block) {
  const std::span<const std::uint32_t> lane_bytes = plan_.layout().lane_bytes();
  twin_tile_ = std::exchange(group_tile_, plan_.tiles_.size());
  std::size_t begin_key = 0;  // of the tile at hand
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const RunKey& key = keys_[i];
    const RunOfLane run = group[key.position];
    const std::uint32_t bytes = lane_bytes[run.lane];
    auto region = region_of(key, run);
    if (!region) return std::move(region).error();
    if (i == 0 || !extends_tile(key, *region)) {
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

Result<std::uint32_t> TileMaker::region_of(const RunKey& key, RunOfLane run) {
  const std::uint32_t bytes = plan_.layout().lane_bytes()[run.lane];
  const std::uint64_t length =
      stride_magnitude(key.stride) * (key.count - std::uint64_t{1}) + bytes;
  const auto found = finder_.find(key.low, length);
  if (!found) {
    return Error(
        Errc::kBadRunTable, Stage::kPlan,
        fmt::format("run {} of lane {} (addresses {:#x} to {:#x}) lies in none of the {} "
                    "regions that the peer published, or crosses the border of one",
                    run.run, run.lane, key.low, key.low + length, regions_.regions().size()));
  }
  return *found;
}

bool TileMaker::extends_tile(const RunKey& key, std::uint32_t region) const {
  const BlockPlan::Tile& tile = plan_.tiles_.back();
  const RemoteTile& remote = remote_tiles_.back();
  // Rows that become wider than the stride overlap; that is found once the intervals are sorted.
  return key.count == tile.rows && key.stride == remote.stride && region == remote.region &&
         key.low == remote.low + tile.width;
}

void TileMaker::open_tile(const RunKey& key, std::uint32_t region, std::uint32_t first_block) {
  BlockPlan::Tile tile;
  tile.rows = key.count;
  tile.block_step = key.stride < 0 ? -1 : 1;
  tile.first_block = key.stride < 0 ? first_block + (key.count - 1) : first_block;
  tile.first_cell = static_cast<std::uint32_t>(plan_.cells_.size());
  tile.end_cell = tile.first_cell;
  plan_.tiles_.push_back(tile);
  remote_tiles_.push_back({key.low, key.stride, region});
}

void TileMaker::close_tile(std::span<const RunOfLane> group, std::size_t begin_key,
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

}  // namespace corail
