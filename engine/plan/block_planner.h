#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/plan/block_plan.h"
#include "engine/plan/remote_tile.h"

namespace corail {

/// Makes one BlockPlan; lives on the stack of plan_block_read.
///
/// The work is per run and block, never per segment where segments abut (I10): a maker turns the
/// table into tiles; a tile whose rows abut is one interval, another one interval a row; intervals
/// are sorted by remote address, laid out locally in that order, fused, and cut into chunks and
/// spans.
class BlockPlanner {
 public:
  /// Checks the peer's table and gives the plan its tiles, and says where each lies.
  using MakeTiles = std::function<Result<std::vector<RemoteTile>>(BlockPlan&)>;

  BlockPlanner(std::shared_ptr<const Layout> layout, std::uint32_t blocks, LaneRange lanes,
               const RegionTable& regions, const PlanLimits& limits);

  Result<BlockPlan> make(const MakeTiles& make_tiles);

 private:
  struct RemoteInterval {
    std::uint64_t address = 0;
    std::uint32_t tile = 0;
    std::uint32_t row = 0;
  };
  /// Intervals without a gap between them, inside one region.
  struct Stretch {
    std::uint64_t linear = 0;
    std::uint64_t address = 0;
    std::uint32_t region = 0;
  };

  Result<void> check_arguments() const;
  Result<void> count_bytes();
  Result<void> number_intervals();
  void list_intervals();
  std::uint64_t length_of(const RemoteInterval& interval) const;
  std::size_t count_stretches() const;
  Result<void> lay_out();
  void split(const Stretch& stretch, std::uint64_t end);
  void open_chunk(std::uint64_t linear, std::uint32_t region);
  void add_span(const Stretch& stretch, std::uint64_t from, std::uint64_t to);

  const RegionTable& regions_;
  const PlanLimits limits_;
  BlockPlan plan_;
  std::vector<RemoteTile> remote_tiles_;  // by index of the tile
  std::vector<RemoteInterval> remote_intervals_;
  std::uint64_t intervals_ = 0;
  std::uint32_t chunk_region_ = 0;  // of the last chunk
  bool splits_segments_ = false;    // some segment is larger than a READ
};

}  // namespace corail
