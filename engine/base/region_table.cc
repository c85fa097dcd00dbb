#include "engine/base/region_table.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/base/units.h"

namespace corail {

Result<RegionTable> RegionTable::make(TableGeneration generation, std::vector<Region> regions) {
  if (regions.size() > kMaxRegions) {
    return Error(Errc::kProtocol,
                 fmt::format("the peer published {} regions, more than the {} allowed",
                             regions.size(), kMaxRegions));
  }
  std::sort(regions.begin(), regions.end(),
            [](const Region& a, const Region& b) { return a.base < b.base; });
  std::uint64_t end = 0;
  std::vector<RegionId> ids;
  ids.reserve(regions.size());
  for (const Region& region : regions) {
    const auto region_end = checked_add(region.base, region.length);
    if (region.length == 0 || !region_end || region.base < end) {
      return Error(Errc::kProtocol, fmt::format("region {} of the peer (base {:#x}, {} bytes) is "
                                                "empty, overflows or overlaps another",
                                                region.id.value(), region.base, region.length));
    }
    end = *region_end;
    ids.push_back(region.id);
  }
  std::sort(ids.begin(), ids.end());
  if (std::adjacent_find(ids.begin(), ids.end()) != ids.end()) {
    return Error(Errc::kProtocol, "the peer published two regions with one id");
  }
  RegionTable table;
  table.generation_ = generation;
  table.regions_ = std::move(regions);
  return table;
}

std::ptrdiff_t RegionTable::find(std::uint64_t address, std::uint64_t length) const noexcept {
  if (length == 0) return -1;
  const auto after = std::upper_bound(
      regions_.begin(), regions_.end(), address,
      [](std::uint64_t value, const Region& region) { return value < region.base; });
  if (after == regions_.begin()) return -1;
  const Region& region = *std::prev(after);
  const std::uint64_t offset = address - region.base;
  if (offset >= region.length || length > region.length - offset) return -1;
  return std::prev(after) - regions_.begin();
}

}  // namespace corail
