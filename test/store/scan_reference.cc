#include "test/store/scan_reference.h"

#include <boost/test/unit_test.hpp>
#include <vector>

namespace corail::testing {
namespace {

struct Segment {
  std::uint64_t address = 0;
  RegionId region;
  const detail::Shape* shape = nullptr;
  std::uint32_t part = 0;
};

Segment segment_of(const detail::StoreState& store, std::string_view name_space,
                   std::string_view hash, std::uint32_t lane) {
  const std::uint32_t slot = store.find(name_space, hash);
  BOOST_REQUIRE(slot != detail::kNoSlot);
  const detail::Block& block = store.blocks().block(slot);
  const auto& first = *store.extents().at(block.parts().front().extent).extent;
  Segment segment;
  segment.part = first.shape().partition()->part_of[lane];
  segment.shape = &store.extents().at(block.parts()[segment.part].extent).extent->shape();
  const auto location = store.locate(name_space, hash, lane);
  BOOST_REQUIRE(location);
  segment.address = location->address;
  segment.region = location->region;
  return segment;
}

/// Where the runs of a lane end: before block i, for each i that is true.
std::vector<std::vector<bool>> lane_breaks(const std::vector<std::vector<Segment>>& segments) {
  const std::size_t lanes = segments.size();
  const std::size_t blocks = segments.front().size();
  std::vector<std::vector<bool>> breaks(lanes, std::vector<bool>(blocks, false));
  std::vector<std::size_t> length(lanes, 0);
  std::vector<std::uint64_t> stride(lanes, 0);
  for (std::size_t i = 0; i < blocks; ++i) {
    std::vector<bool> goes_on(lanes, i > 0);
    for (std::size_t lane = 0; i > 0 && lane < lanes; ++lane) {
      const Segment& last = segments[lane][i - 1];
      const Segment& next = segments[lane][i];
      goes_on[lane] = last.shape == next.shape && last.region == next.region &&
                      (length[lane] == 1 || next.address - last.address == stride[lane]);
    }
    // One lane that breaks breaks all of its part.
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      for (std::size_t other = 0; other < lanes; ++other) {
        if (goes_on[other] || segments[lane][i].part != segments[other][i].part) continue;
        breaks[lane][i] = true;
      }
    }
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      if (!breaks[lane][i])
        stride[lane] = segments[lane][i].address - segments[lane][i - 1].address;
      length[lane] = breaks[lane][i] ? 1 : length[lane] + 1;
    }
  }
  return breaks;
}

std::vector<std::vector<Segment>> all_segments(const detail::StoreState& store,
                                               std::string_view name_space,
                                               std::span<const std::string_view> hashes) {
  const std::uint32_t slot = store.find(name_space, hashes.front());
  BOOST_REQUIRE(slot != detail::kNoSlot);
  const std::uint32_t lanes = store.blocks().block(slot).layout->lanes();
  std::vector<std::vector<Segment>> segments(lanes);
  for (std::uint32_t lane = 0; lane < lanes; ++lane) {
    for (const std::string_view hash : hashes) {
      segments[lane].push_back(segment_of(store, name_space, hash, lane));
    }
  }
  return segments;
}

}  // namespace

RunTable reference_runs(const detail::StoreState& store, std::string_view name_space,
                        std::span<const std::string_view> hashes) {
  const auto segments = all_segments(store, name_space, hashes);
  const auto breaks = lane_breaks(segments);
  RunTable table;
  for (std::size_t lane = 0; lane < segments.size(); ++lane) {
    std::uint32_t runs = 0;
    for (std::size_t i = 0; i < hashes.size(); ++i) {
      if (breaks[lane][i]) {
        table.base.push_back(segments[lane][i].address);
        table.stride.push_back(0);
        table.count.push_back(1);
        ++runs;
        continue;
      }
      table.stride.back() =
          static_cast<std::int64_t>(segments[lane][i].address - segments[lane][i - 1].address);
      ++table.count.back();
    }
    table.runs_per_lane.push_back(runs);
  }
  return table;
}

RunTable encoder_runs(const detail::StoreState& store, std::string_view name_space,
                      std::span<const std::string_view> hashes, const RegionTable& regions) {
  RunTableBuilder builder(&regions);
  for (const auto& lane : all_segments(store, name_space, hashes)) {
    for (const Segment& segment : lane) builder.add(segment.address);
    builder.end_lane();
  }
  return builder.take();
}

}  // namespace corail::testing
