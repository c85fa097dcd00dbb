#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/memory/pin.h"
#include "engine/plan/lane_range.h"
#include "test/sim/held_content.h"

namespace corail::sim {

/// What the driver asked for: all lanes of some blocks, or some of the lanes under a lease that
/// other reads share.
struct FetchOrder {
  std::vector<BlockNumber> blocks;
  LaneRange lanes;
  bool verified = false;
  /// Its lease is long enough to be renewed well before it is of no use any more.
  bool renewable = false;
  TimePoint deadline;
};

/// What a holder was told about a read, by the bytes that reached it.
struct HolderLease {
  std::set<BlockNumber> asked;
  TimePoint granted;     // at the earliest
  TimePoint granted_by;  // at the latest: a query may wait for blocks
  TimePoint ends;        // at most; the last renewal that reached the holder in time counts
  std::optional<TimePoint> over;  // released, quiesced or confirmed
};

/// Tells reads of one lease apart: the number that a read of everything has, the one of the lease
/// itself, which posts nothing, and the first of the reads under it.
inline constexpr EpochNumber kWholeRead{1};
inline constexpr EpochNumber kLeaseItself{0};

/// One fetch as the model knows it: what was asked, and what was seen of it at every seam.
struct FetchRecord {
  std::uint64_t number = 0;
  std::size_t node = 0;    // requester
  std::size_t holder = 0;  // index of the node that it asks
  std::size_t link = 0;    // number of the connection
  ReadId read;             // within the connection
  EpochNumber epoch;       // within the read
  bool shares_lease = false;
  FetchOrder order;
  TimePoint begin;
  std::optional<TimePoint> cancelled;
  bool ended = false;

  // Seen on the control channel.
  std::optional<TimePoint> leased;  // the query reached the holder
  TimePoint leased_by;              // its answer was being made until then at the latest
  TimePoint lease_ends;             // as HolderLease
  std::optional<TimePoint> confirm_sent;
  std::uint64_t answer_runs = 0;  // at most that many were needed, by what the holder has

  // Seen at the rails. A place is (region, offset).
  using Place = std::pair<std::uint32_t, std::uint64_t>;
  struct Posted {
    std::uint64_t bytes = 0;
    const std::byte* destination = nullptr;
  };
  std::map<Place, Posted> posted;  // and not given up
  std::uint64_t in_flight = 0;     // slices
  std::uint64_t landed = 0;        // bytes

  // Seen at the holder's gate.
  struct Admitted {
    std::span<const std::byte> bytes;
    std::vector<std::byte> copy;  // what they were
  };
  std::map<Place, Admitted> admitted;  // and still being served
  std::uint64_t admitted_bytes = 0;    // of slices that were not given up
};

}  // namespace corail::sim
