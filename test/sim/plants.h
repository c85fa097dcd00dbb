#pragma once

#include <span>
#include <string_view>

namespace corail::sim {

/// A planted bug: one component behind a seam that does not keep its word. Shows that the check of
/// the invariant can fail.
enum class Plant {
  kNone,
  kWeakFence,         // the mock's fence only moves the queue pair into its error state
  kTrustCompletions,  // the mock believes a completion although bytes are missing
  kDeafCancel,        // the caller's token is not connected to the fetch
  kPostTwice,         // a transport posts some slices twice
  kStraddle,          // a transport shifts a slice across its region's end
  kOpenGate,          // a gate admits what the store refuses
  kNoPin,             // a gate hands out bytes without a pin
  kEarlyOutcome,      // a transport ends slices on a fence while its device still writes
  kWrongExecutor,     // a transport tells outcomes on the node's home executor
  kWideWindow,        // a rail set is opened with four times the window
  kDeafFence,         // a transport's fence never returns
  kSlowLease,  // the leases are timed by a clock that is slow, and requesters leave no margin
  kPadding,    // a holder's stream pads answers by the number of segments
  // Of objects.
  kStaleStrict,       // a strict read is made as a snapshot
  kSpoiled,           // a door sends bytes that are not what was admitted
  kLyingSync,         // a directory says that it is synced
  kKeptDebris,        // a directory says that it has removed a file
  kIgnoredCondition,  // a put's if_generation is dropped
  kCommitsAborted,    // the home commits what its writer aborts
  kLateCopy,          // a byte of a caller's own memory is written after its read has failed
  kLeakedLease,       // the holder forgets to end a lease
};

struct PlantInfo {
  Plant plant;
  std::string_view name;
  int invariant;               // which check must find it
  bool of_objects = false;     // in which simulation
  std::string_view says = {};  // a part of what that check says
};

std::span<const PlantInfo> all_plants();
/// Null for a name that does not exist in that simulation.
const PlantInfo* find_plant(std::string_view name, bool of_objects);

}  // namespace corail::sim
