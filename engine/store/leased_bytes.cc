#include "engine/store/leased_bytes.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "engine/base/spread_sort.h"

namespace corail::detail {
namespace {

struct Range {
  std::uint64_t begin = 0;  // addresses
  std::uint64_t end = 0;
};

/// `count` pieces of `width` bytes, as one range where they abut.
void add_pieces(std::vector<Range>& ranges, std::uint64_t first, std::int64_t step,
                std::uint64_t width, std::uint32_t count) {
  const auto dense = static_cast<std::int64_t>(width);
  if (count == 1 || step == dense || step == -dense) {
    const std::uint64_t last = first + static_cast<std::uint64_t>(step) * (count - 1);
    ranges.push_back({std::min(first, last), std::max(first, last) + width});
    return;
  }
  std::uint64_t at = first;
  for (std::uint32_t i = 0; i < count; ++i) {
    ranges.push_back({at, at + width});
    at += static_cast<std::uint64_t>(step);
  }
}

void add_run(std::vector<Range>& ranges, const PartRun& run) {
  const Shape& shape = *run.shape;
  if (shape.order() == BlockOrder::kBlockMajor) {
    add_pieces(ranges, run.address(0), run.stride(0), shape.part().bytes, run.count);
    return;
  }
  for (std::uint32_t rank = 0; rank < shape.part().lanes.size(); ++rank) {
    add_pieces(ranges, run.address(rank), run.stride(rank), shape.lane_bytes(rank), run.count);
  }
}

}  // namespace

void LeasedBytes::build() const {
  std::unordered_map<RegionId, const std::byte*> origins;
  for (const auto& extent : extents_) origins.emplace(extent->region(), extent->region_data());
  std::unordered_map<RegionId, std::vector<Range>> by_region;
  for (const PartRuns::Phase& phase : runs_.phases()) {
    for (const auto& runs : phase.runs) {
      for (const PartRun& run : runs) add_run(by_region[run.region], run);
    }
  }
  for (auto& [region, ranges] : by_region) {
    sort_spread(ranges, [](const Range& range) { return range.begin; });
    const std::byte* const data = origins.at(region);
    const auto base = reinterpret_cast<std::uint64_t>(data);
    const std::size_t first = intervals_.size();
    for (const Range& range : ranges) {
      const std::uint64_t begin = range.begin - base;
      const std::uint64_t end = range.end - base;
      if (intervals_.size() > first && begin <= intervals_.back().end) {
        intervals_.back().end = std::max(intervals_.back().end, end);
      } else {
        intervals_.push_back({region, begin, end, data + begin});
      }
    }
  }
  std::sort(intervals_.begin(), intervals_.end(), [](const Interval& a, const Interval& b) {
    return a.region != b.region ? a.region < b.region : a.begin < b.begin;
  });
}

std::optional<std::span<const std::byte>> LeasedBytes::find(RegionId region, std::uint64_t offset,
                                                            std::uint64_t length) const {
  std::call_once(built_, [this] { build(); });
  if (length == 0) return std::nullopt;
  const auto after = std::upper_bound(
      intervals_.begin(), intervals_.end(), std::pair(region, offset),
      [](const std::pair<RegionId, std::uint64_t>& wanted, const Interval& interval) {
        return wanted.first != interval.region ? wanted.first < interval.region
                                               : wanted.second < interval.begin;
      });
  if (after == intervals_.begin()) return std::nullopt;
  const Interval& interval = *std::prev(after);
  // Subtractions only: no remote sum that could overflow (I5).
  if (interval.region != region || offset >= interval.end || length > interval.end - offset) {
    return std::nullopt;
  }
  return std::span(interval.data + (offset - interval.begin), length);
}

}  // namespace corail::detail
