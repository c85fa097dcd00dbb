#include "test/sim/plants.h"

#include <algorithm>
#include <array>

namespace corail::sim {
namespace {

constexpr std::array<PlantInfo, 26> kPlants = {{
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
    {Plant::kWeakFence, "weak-fence", 1, true, "changed after"},
    {Plant::kLateCopy, "late-copy", 1, true, "the copy"},
    {Plant::kOpenGate, "open-gate", 1, true, "was read after"},
    {Plant::kDeafCancel, "deaf-cancel", 2, true, "cancelled"},
    {Plant::kStaleStrict, "stale-strict", 2, true, "superseded"},
    {Plant::kIgnoredCondition, "ignored-condition", 2, true, "only in place of"},
    {Plant::kCommitsAborted, "commits-aborted", 2, true, "nobody committed"},
    {Plant::kSpoiled, "spoiled", 3, true, "not its generation's"},
    {Plant::kNoPin, "no-pin", 6, true, "changed while"},
    {Plant::kSlowLease, "slow-lease", 9, true},
    {Plant::kLyingSync, "lying-sync", 0, true, "did not survive"},
    {Plant::kKeptDebris, "kept-debris", 0, true, "is left of it"},
    {Plant::kLeakedLease, "leaked-lease", 0, true, "leases"},
}};

}  // namespace

std::span<const PlantInfo> all_plants() { return kPlants; }

const PlantInfo* find_plant(std::string_view name, bool of_objects) {
  const auto found = std::find_if(kPlants.begin(), kPlants.end(), [&](const PlantInfo& info) {
    return info.name == name && info.of_objects == of_objects;
  });
  return found == kPlants.end() ? nullptr : &*found;
}

}  // namespace corail::sim
