#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/region_table.h"

namespace corail {

/// Bytes [offset, offset + length) of an object.
struct ObjectRange {
  std::uint64_t offset = 0;
  std::uint64_t length = 0;

  friend bool operator==(const ObjectRange&, const ObjectRange&) = default;
};

/// The granules that hold the range, of an object of `size` bytes: what has to be read to verify
/// it. The range must lie in the object.
ObjectRange whole_granules(ObjectRange range, std::uint64_t size) noexcept;

/// Where some of an object's bytes shall land.
struct ObjectLanding {
  ObjectRange range;
  std::uint32_t chunk = 0;
  std::uint64_t chunk_offset = 0;  // bytes
};

/// What a caller wants of an object. Its borders, of ranges and landings, are those of granules, or
/// the end of the object: no granule is hashed in part, and none lands in two places.
struct ObjectDemand {
  std::vector<ObjectRange> ranges;  // ascending, none empty, no byte twice
  /// In the order of the object, covering the ranges and nothing else; between and around them the
  /// chunks may have any gaps. Empty: one range after the other, in chunks that the plan makes.
  std::vector<ObjectLanding> landings;
  std::vector<std::uint64_t> chunk_bytes;  // of the landings' chunks

  static ObjectDemand whole(std::uint64_t size) {
    ObjectDemand demand;
    if (size > 0) demand.ranges.push_back({0, size});
    return demand;
  }
};

/// What one node serves of an object in its memory, and where. From the peer, hence hostile until a
/// plan was made of it (I5).
struct StripeSource {
  struct Stripe {
    std::uint32_t index = 0;    // in the object
    std::uint64_t address = 0;  // of its first byte, in the node's memory
  };

  std::uint32_t node = 0;                // index in the descriptor's nodes
  const RegionTable* regions = nullptr;  // of that node; outlives the planning
  std::vector<Stripe> stripes;           // in any order; those that nobody asks for are ignored
};

}  // namespace corail
