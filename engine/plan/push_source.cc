#include "engine/plan/push_source.h"

#include <utility>
#include <vector>

namespace corail {

Result<RegionTable> pushed_region(const ObjectDescriptor& object) {
  std::vector<Region> regions;
  if (object.size > 0) {
    regions.emplace_back();
    regions.back().length = object.size;
  }
  return RegionTable::make(TableGeneration(0), std::move(regions));
}

StripeSource pushed_stripes(const ObjectDescriptor& object, std::uint32_t node,
                            const RegionTable& region) {
  StripeSource source;
  source.node = node;
  source.regions = &region;
  for (std::uint32_t i = 0; i < object.chunks.size(); ++i) {
    if (object.chunks[i].node == node) source.stripes.push_back({i, i * object.stripe_size});
  }
  return source;
}

}  // namespace corail
