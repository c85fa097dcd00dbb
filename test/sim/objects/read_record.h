#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/object/object_descriptor.h"
#include "engine/plan/object_demand.h"

namespace corail::sim {

/// What the driver asked for.
struct ObjectReadOrder {
  std::size_t key = 0;
  ObjectGeneration generation;
  std::uint64_t size = 0;           // bytes of the object
  std::vector<ObjectRange> ranges;  // none: all of it
  bool strict = true;
  bool verified = false;
  TimePoint deadline;
};

/// What is posted under one read id, over all rails.
struct PostedSlices {
  using Place = std::pair<std::uint64_t, std::uint64_t>;  // region, or the object itself; offset
  std::map<Place, std::uint64_t> slices;                  // bytes, of those that were not given up
  std::uint64_t number = 0;                               // of the memory that they land in
  std::uint64_t in_flight = 0;                            // slices
  std::uint64_t landed = 0;                               // bytes
  std::uint64_t pushed = 0;                               // slices, of all that were posted
};

/// One read of an object as the model knows it.
struct ObjectReadRecord {
  std::uint64_t number = 0;
  std::size_t link = 0;
  ReadId read;  // within the link
  ObjectReadOrder order;
  TimePoint begin;
  std::optional<TimePoint> cancelled;
  bool ended = false;
  PostedSlices posted;

  // Seen on the control channel.
  std::optional<TimePoint> leased;  // when the holder heard of it
  TimePoint lease_ends;             // at most; what was renewed in time counts
  std::optional<TimePoint> confirm_sent;
  std::optional<TimePoint> confirm_heard;  // by the holder
};

}  // namespace corail::sim
