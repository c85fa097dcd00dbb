#include "rpc/rail_keys.h"

#include <algorithm>
#include <cstddef>

namespace corail {

std::vector<std::vector<std::uint64_t>> keys_of_rails(const RailSet& rails,
                                                      const RegionTable& regions) {
  const auto needs_keys = [](const auto& rail) { return rail->capabilities().needs_registration; };
  std::vector<std::vector<std::uint64_t>> keys;
  if (std::none_of(rails.rails().begin(), rails.rails().end(), needs_keys)) return keys;
  keys.resize(rails.rails().size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (!needs_keys(rails.rails()[i])) continue;
    const std::size_t port = rails.remote_of(i);
    for (const Region& region : regions.regions()) {
      keys[i].push_back(port < region.keys.size() ? region.keys[port] : 0);
    }
  }
  return keys;
}

}  // namespace corail
