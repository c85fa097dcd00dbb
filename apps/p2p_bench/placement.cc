#include "apps/p2p_bench/placement.h"

namespace corail::bench {

std::string to_string(Placement placement) {
  for (const auto& [name, value] : kPlacements) {
    if (value == placement) return name;
  }
  return "unknown";
}

std::optional<Placement> placement_of(std::string_view name) {
  for (const auto& [known, value] : kPlacements) {
    if (known == name) return value;
  }
  return std::nullopt;
}

}  // namespace corail::bench
