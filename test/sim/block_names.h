#pragma once

#include <fmt/core.h>

#include <string>

#include "test/sim/held_content.h"

namespace corail::sim {

/// The simulation's universe: each node may hold each of these blocks, in content of its own.
inline constexpr std::uint32_t kNamespaces = 2;
/// Blocks of a namespace, and the most of one save or one fetch.
inline constexpr std::uint32_t kMostBlocks = 16;
inline constexpr std::uint32_t kBlocks = kNamespaces * kMostBlocks;

/// The identity of a block as the product knows it. Numbers from kBlocks on are never saved.
inline std::string name_space_of(BlockNumber block) {
  return fmt::format("model-{}", block / kMostBlocks % kNamespaces);
}
inline std::string hash_of(BlockNumber block) { return fmt::format("block-{}", block); }

}  // namespace corail::sim
