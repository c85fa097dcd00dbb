#include "rpc/rail_keys.h"

#include <algorithm>

namespace corail {

std::vector<std::uint64_t> keys_of_port(const RegionTable& regions, std::size_t port) {
  // How many keys a region has is the holder's word (I5).
  const auto key_of = [port](const Region& region) {
    return port < region.keys.size() ? region.keys[port] : std::uint64_t{0};
  };
  const auto all = regions.regions();
  std::vector<std::uint64_t> keys;
  const bool any = std::any_of(all.begin(), all.end(),
                               [&](const Region& region) { return key_of(region) != 0; });
  if (!any) return keys;
  keys.reserve(all.size());
  for (const Region& region : all) keys.push_back(key_of(region));
  return keys;
}

}  // namespace corail
