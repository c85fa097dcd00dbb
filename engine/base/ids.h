#pragma once

#include <compare>
#include <cstdint>

#include "engine/base/strong_id.h"

namespace corail {

/// Index of a rail within the rail set of one peer, from 0.
using RailIndex = StrongId<struct RailIndexTag, std::uint32_t>;
/// Index of a local port within the node, from 0.
using PortIndex = StrongId<struct PortIndexTag, std::uint32_t>;
/// A registered region of a holder; unique in the holder's process, never reused.
using RegionId = StrongId<struct RegionIdTag, std::uint32_t>;
/// Changes whenever the set of regions changes.
using TableGeneration = StrongId<struct TableGenerationTag, std::uint64_t>;
/// One read of a requester; unique within the session, chosen by the requester.
using ReadId = StrongId<struct ReadIdTag, std::uint64_t>;
/// One accepted session at a holder; never reused in a process.
using SessionId = StrongId<struct SessionIdTag, std::uint64_t>;
/// Random per node, kept while the node lives.
using NodeId = StrongId<struct NodeIdTag, std::uint64_t>;
/// Random per process start.
using BootId = StrongId<struct BootIdTag, std::uint64_t>;
/// Number of the attempt's epoch; cancelling bumps it.
using EpochNumber = StrongId<struct EpochNumberTag, std::uint64_t>;
/// A 64-bit xxh3 value or a mix of such.
using Checksum64 = StrongId<struct Checksum64Tag, std::uint64_t>;

/// A lapsed lease can never be renewed: the counter never repeats within a boot, and the boot id is
/// random.
struct LeaseId {
  BootId boot;
  std::uint64_t counter = 0;
  friend constexpr auto operator<=>(const LeaseId&, const LeaseId&) = default;
};

}  // namespace corail
