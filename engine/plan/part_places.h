#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace corail {

/// Where one segment of a run is in a plan: which tile, and as which cell of the plan's cells.
struct TilePlace {
  std::uint32_t tile = 0;
  std::uint32_t cell = 0;
};

/// Finds a segment's tile in a plan that was made of a part table. Its size is that of the table,
/// plus a number for each lane of each phase, lane set and shape. A value, immutable once its plan
/// is made; any thread.
class PartPlaces {
 public:
  explicit PartPlaces(std::uint32_t lanes) : lanes_(lanes) {}

  /// While the plan is made, in the table's order: a lane's index in its set, and a lane's place in
  /// a shape, its tile counted from the first one of the run.
  void add_lane_set(const std::vector<std::uint32_t>& lanes);
  void add_shape(std::uint32_t lane_set, std::vector<TilePlace> places);

  void reserve(std::size_t runs) { runs_.reserve(runs); }

  /// A phase, then its columns, then each one's runs.
  void begin_phase(std::uint32_t first_block);
  void begin_column(const std::vector<std::uint32_t>& lanes);
  void add_run(std::uint32_t shape, std::uint32_t first_block, std::uint32_t first_tile);

  /// O(log phases + log runs of the part). Block and lane must be of the plan.
  TilePlace find(std::uint32_t block, std::uint32_t lane) const noexcept;

 private:
  struct Run {
    std::uint32_t first_block = 0;
    std::uint32_t first_tile = 0;
    std::uint32_t shape = 0;
  };
  struct Column {
    std::uint32_t first_run = 0;
    std::uint32_t end_run = 0;
  };
  struct Shape {
    std::uint32_t lane_set = 0;
    std::vector<TilePlace> places;  // per lane of the set
  };

  std::uint32_t lanes_;
  std::vector<std::uint32_t> rank_of_lane_;  // per lane set and lane
  std::vector<Shape> shapes_;
  std::vector<std::uint32_t> phase_begin_;     // first block of each phase
  std::vector<std::uint32_t> column_of_lane_;  // per phase and lane
  std::vector<Column> columns_;
  std::vector<Run> runs_;
};

}  // namespace corail
