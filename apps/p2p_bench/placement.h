#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "engine/store/store_types.h"

namespace corail::bench {

/// How a set's blocks come to lie in the holder's memory: the values of --layout.
enum class Placement {
  kBump,        // one save: block after block
  kLaneMajor,   // one save: one buffer per lane
  kBatched,     // saves of kBatchBlocks blocks, those of the sets in turns
  kPermuted,    // one save, asked for in another, seeded order
  kFragmented,  // one save, then every other block evicted and saved again elsewhere
  kScattered,   // one save a block, in a seeded order over all sets
  kMixedNuma    // the NUMA node alternates by block and slot
};

inline constexpr std::uint32_t kBatchBlocks = 64;

inline constexpr std::array<std::pair<const char*, Placement>, 7> kPlacements = {{
    {"bump", Placement::kBump},
    {"lane-major", Placement::kLaneMajor},
    {"batched", Placement::kBatched},
    {"permuted", Placement::kPermuted},
    {"fragmented", Placement::kFragmented},
    {"scattered", Placement::kScattered},
    {"mixed-numa", Placement::kMixedNuma},
}};

std::string to_string(Placement placement);
/// Nothing when the name is none of kPlacements.
std::optional<Placement> placement_of(std::string_view name);

/// The order within one save.
constexpr BlockOrder order_of(Placement placement) noexcept {
  return placement == Placement::kLaneMajor ? BlockOrder::kLaneMajor : BlockOrder::kBlockMajor;
}

}  // namespace corail::bench
