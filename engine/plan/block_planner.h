#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/plan/block_plan.h"

namespace corail {

/// Makes one BlockPlan; lives on the stack of plan_block_read.
///
/// The work per run and block, never per segment where segments abut (I10): runs are grouped by
/// first block, count and stride; lanes whose segments abut become cells of a tile; a tile whose
/// rows abut is one interval, another one interval a row; intervals are sorted by remote address,
/// laid out locally in that order, fused, and cut into chunks and spans.
class BlockPlanner {
 public:
  BlockPlanner(const RunTable& runs, std::shared_ptr<const Layout> layout, std::uint32_t blocks,
               const RegionTable& regions, const PlanLimits& limits);

  Result<BlockPlan> make();

 private:
  struct RunOfLane {
    std::uint32_t run = 0;
    std::uint32_t lane = 0;
  };
  /// A run as the grouping sees it.
  struct RunKey {
    std::uint64_t low = 0;    // lowest address
    std::int64_t stride = 0;  // 0 where there is one row only
    std::uint32_t count = 0;
    std::uint32_t position = 0;  // in the group, before sorting
  };
  /// What a tile needs only until it is laid out.
  struct RemoteTile {
    std::uint64_t low = 0;
    std::int64_t stride = 0;
    std::uint32_t region = 0;
  };
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
  template <typename F>
  void for_each_run(F f) const;
  void sort_by_first_block();
  Result<void> make_tiles();
  void load_keys(std::span<const RunOfLane> group);
  Result<void> make_group(std::span<const RunOfLane> group, std::uint32_t first_block);
  Result<std::uint32_t> region_of(const RunKey& key, RunOfLane run);
  bool extends_tile(const RunKey& key, std::uint32_t region, std::uint32_t bytes) const;
  void open_tile(const RunKey& key, std::uint32_t region, std::uint32_t first_block);
  void close_tile(std::span<const RunOfLane> group, std::size_t begin_key, std::size_t end_key);
  Result<void> number_intervals();
  void list_intervals();
  std::uint64_t length_of(const RemoteInterval& interval) const;
  std::size_t count_stretches() const;
  Result<void> lay_out();
  void split(const Stretch& stretch, std::uint64_t end);
  void open_chunk(std::uint64_t linear, std::uint32_t region);
  void add_span(const Stretch& stretch, std::uint64_t from, std::uint64_t to);

  const RunTable& runs_;
  const std::uint32_t blocks_;
  const RegionTable& regions_;
  const PlanLimits limits_;
  BlockPlan plan_;

  std::vector<RunOfLane> by_first_block_;
  std::vector<std::uint32_t> group_begin_;  // by first block, plus one: positions in it
  std::vector<RunKey> keys_;                // of the group at hand, sorted
  std::vector<std::uint32_t> key_order_;    // the previous group's order, as a first guess
  std::vector<RemoteTile> remote_tiles_;
  std::vector<RemoteInterval> remote_intervals_;
  std::size_t group_tile_ = 0;  // the first tile of the group at hand
  std::size_t twin_tile_ = 0;   // the previous group's tile that the next one may equal
  std::uint64_t intervals_ = 0;
  std::uint32_t region_guess_ = 0;
  std::uint32_t chunk_region_ = 0;  // of the last chunk
  bool splits_segments_ = false;    // some segment is larger than a READ
};

}  // namespace corail
