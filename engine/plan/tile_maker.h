#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/plan/block_plan.h"
#include "engine/plan/region_finder.h"
#include "engine/plan/remote_tile.h"

namespace corail {

/// Groups the runs of a valid table into the tiles of a plan: runs of equal first block, count and
/// stride whose segments abut. Linear in the runs, but for the sort within a group. Lives on the
/// planner's stack.
class TileMaker {
 public:
  /// `plan` has its layout, blocks and lanes, and receives tiles, cells and the runs' places.
  TileMaker(const RunTable& runs, const RegionTable& regions, BlockPlan& plan);

  /// By index of the tile. Fails with kBadRunTable when a run is not inside one region.
  Result<std::vector<RemoteTile>> make();

 private:
  struct RunOfLane {
    std::uint32_t run = 0;
    std::uint32_t lane = 0;
    std::uint32_t first_block = 0;
  };
  /// A run as the grouping sees it.
  struct RunKey {
    std::uint64_t low = 0;  // lowest address
    std::int64_t stride = 0;
    std::uint32_t count = 0;
    std::uint32_t position = 0;  // in the group, before sorting
  };

  template <typename F>
  void for_each_run(F f) const;
  void list_runs();
  void sort_by_first_block();
  void load_keys(std::span<const RunOfLane> group);
  Result<void> make_group(std::span<const RunOfLane> group, std::uint32_t first_block);
  Result<std::uint32_t> region_of(const RunKey& key, RunOfLane run);
  bool extends_tile(const RunKey& key, std::uint32_t region) const;
  void open_tile(const RunKey& key, std::uint32_t region, std::uint32_t first_block);
  void close_tile(std::span<const RunOfLane> group, std::size_t begin_key, std::size_t end_key);

  const RunTable& runs_;
  const RegionTable& regions_;
  BlockPlan& plan_;
  std::vector<RemoteTile> remote_tiles_;
  std::vector<RunOfLane> by_first_block_;
  std::vector<RunKey> keys_;              // of the group at hand, sorted
  std::vector<std::uint32_t> key_order_;  // the previous group's order, as a first guess
  std::size_t group_tile_ = 0;            // the first tile of the group at hand
  std::size_t twin_tile_ = 0;             // the previous group's tile that the next one may equal
  RegionFinder finder_;
};

}  // namespace corail
