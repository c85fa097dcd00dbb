#include "engine/store/published_arena.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace corail::detail {

Result<std::shared_ptr<Arena>> publish_arena(const SlabOptions& wanted,
                                             const MemoryRegistrars& registrars,
                                             RegionRegistry& registry) {
  auto slab = Slab::create(wanted);
  if (!slab) return std::move(slab).error();
  const std::uint64_t piece = std::min(max_served_bytes(registrars), (*slab)->bytes());
  auto registered = (*slab)->register_with(registrars, MemoryUse::kServed, piece);
  if (!registered) return std::move(registered).error();
  std::vector<RegionId> regions;
  for (std::uint64_t at = 0; at < (*slab)->bytes(); at += piece) {
    const auto base = reinterpret_cast<std::uint64_t>((*slab)->data()) + at;
    const auto region = registry.add(base, std::min(piece, (*slab)->bytes() - at), wanted.numa_node,
                                     (*slab)->keys(regions.size()));
    if (!region) {
      for (const RegionId added : regions) registry.remove(added);
      return region.error();
    }
    regions.push_back(*region);
  }
  return std::make_shared<Arena>(std::move(*slab), std::move(regions), piece);
}

void unpublish_arena(const Arena& arena, RegionRegistry& registry) {
  for (const RegionId region : arena.regions()) registry.remove(region);
}

}  // namespace corail::detail
