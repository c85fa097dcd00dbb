#include "test/sim/plants.h"

#include <algorithm>
#include <array>

namespace corail::sim {
namespace {

constexpr std::array<PlantInfo, 13> kPlants = {{
    {Plant::kWeakFence, "weak-fence", 1},
    {Plant::kTrustCompletions, "trust-completions", 1},
    {Plant::kDeafCancel, "deaf-cancel", 2},
    {Plant::kPostTwice, "post-twice", 3},
    {Plant::kStraddle, "straddle", 4},
    {Plant::kOpenGate, "open-gate", 5},
    {Plant::kNoPin, "no-pin", 6},
    {Plant::kEarlyOutcome, "early-outcome", 6},
    {Plant::kWrongExecutor, "wrong-executor", 7},
    {Plant::kWideWindow, "wide-window", 8},
    {Plant::kDeafFence, "deaf-fence", 8},
    {Plant::kSlowLease, "slow-lease", 9},
    {Plant::kPadding, "padding", 10},
}};

}  // namespace

std::span<const PlantInfo> all_plants() { return kPlants; }

const PlantInfo* find_plant(std::string_view name) {
  const auto found = std::find_if(kPlants.begin(), kPlants.end(),
                                  [&](const PlantInfo& info) { return info.name == name; });
  return found == kPlants.end() ? nullptr : &*found;
}

}  // namespace corail::sim
