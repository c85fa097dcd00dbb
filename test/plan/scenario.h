#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/region_table.h"
#include "engine/plan/layout.h"
#include "engine/plan/run_table.h"

namespace corail::testing {

/// Blocks in a holder's memory, made up: where each segment lies, known per segment.
struct Scenario {
  std::shared_ptr<const Layout> layout;
  std::uint32_t blocks = 0;
  RegionTable regions;
  std::vector<std::vector<std::uint64_t>> addresses;  // [lane][block]
  RunTable runs;
};

/// Random layouts, parts, saves, orders in memory (block-major, lane-major, with gaps, scattered,
/// permuted, reversed), several regions that may touch each other or the end of the address space,
/// and a run table whose runs are split at random. The same seed gives the same scenario.
Scenario random_scenario(std::uint64_t seed);

/// Encodes the addresses, breaking runs at the borders of `regions`.
RunTable encode(const std::vector<std::vector<std::uint64_t>>& addresses,
                const RegionTable* regions);

/// A layout of `slots` slots of K and V of `bytes` each (v_bytes 0: K only).
std::shared_ptr<const Layout> uniform_layout(std::uint32_t slots, std::uint32_t k_bytes,
                                             std::uint32_t v_bytes);

RegionTable one_region(std::uint64_t base, std::uint64_t length);

}  // namespace corail::testing
