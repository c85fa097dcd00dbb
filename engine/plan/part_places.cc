#include "engine/plan/part_places.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace corail {

void PartPlaces::add_lane_set(const std::vector<std::uint32_t>& lanes) {
  const std::size_t begin = rank_of_lane_.size();
  rank_of_lane_.resize(begin + lanes_, 0);
  for (std::uint32_t rank = 0; rank < lanes.size(); ++rank) {
    rank_of_lane_[begin + lanes[rank]] = rank;
  }
}

void PartPlaces::add_shape(std::uint32_t lane_set, std::vector<TilePlace> places) {
  shapes_.push_back({lane_set, std::move(places)});
}

void PartPlaces::begin_phase(std::uint32_t first_block) {
  phase_begin_.push_back(first_block);
  column_of_lane_.resize(column_of_lane_.size() + lanes_, 0);
}

void PartPlaces::begin_column(const std::vector<std::uint32_t>& lanes) {
  const auto runs = static_cast<std::uint32_t>(runs_.size());
  const auto column = static_cast<std::uint32_t>(columns_.size());
  columns_.push_back({runs, runs});
  const std::size_t phase = column_of_lane_.size() - lanes_;
  for (const std::uint32_t lane : lanes) column_of_lane_[phase + lane] = column;
}

void PartPlaces::add_run(std::uint32_t shape, std::uint32_t first_block, std::uint32_t first_tile) {
  runs_.push_back({first_block, first_tile, shape});
  ++columns_.back().end_run;
}

TilePlace PartPlaces::find(std::uint32_t block, std::uint32_t lane) const noexcept {
  const auto next_phase = std::upper_bound(phase_begin_.begin() + 1, phase_begin_.end(), block);
  const auto phase = static_cast<std::size_t>(next_phase - phase_begin_.begin()) - 1;
  const Column& column = columns_[column_of_lane_[phase * lanes_ + lane]];
  const auto next_run =
      std::upper_bound(runs_.begin() + column.first_run + 1, runs_.begin() + column.end_run, block,
                       [](std::uint32_t value, const Run& run) { return value < run.first_block; });
  const Run& run = *std::prev(next_run);
  const Shape& shape = shapes_[run.shape];
  const std::uint32_t rank = rank_of_lane_[std::size_t{shape.lane_set} * lanes_ + lane];
  const TilePlace place = shape.places[rank];
  return {run.first_tile + place.tile, place.cell};
}

}  // namespace corail
