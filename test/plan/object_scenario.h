#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/plan/object_plan.h"

namespace corail::testing {

/// An object over some nodes' made-up memory, and a demand for some of it.
struct ObjectScenario {
  std::shared_ptr<const ObjectDescriptor> object;
  std::vector<std::unique_ptr<RegionTable>> regions;  // by node
  std::vector<StripeSource> sources;
  ObjectDemand demand;
  PlanLimits limits;

  Result<ObjectPlan> plan() const { return plan_object_read(object, sources, demand, limits); }
};

inline std::shared_ptr<ObjectDescriptor> object_over(std::uint64_t size, std::uint64_t stripe_size,
                                                     std::uint32_t nodes, SeededRandom& random) {
  auto object = std::make_shared<ObjectDescriptor>();
  object->key = "object";
  object->size = size;
  object->generation = ObjectGeneration(1);
  object->stripe_size = stripe_size;
  for (std::uint32_t id = 0; id < nodes; ++id) object->nodes.push_back({NodeId(id), {"a:1"}});
  for (std::uint64_t at = 0; at < size; at += stripe_size) {
    ObjectChunk chunk;
    chunk.node = static_cast<std::uint32_t>(random.below(nodes));
    chunk.length = std::min(stripe_size, size - at);
    object->chunks.push_back(chunk);
  }
  return object;
}

/// Each node's stripes lie in random order in one to three regions that touch, with gaps between
/// the stripes now and then.
inline void place_stripes(ObjectScenario& it, SeededRandom& random) {
  it.sources.resize(it.object->nodes.size());
  for (std::uint32_t node = 0; node < it.sources.size(); ++node) {
    std::vector<std::uint32_t> own;
    for (std::uint32_t i = 0; i < it.object->chunks.size(); ++i) {
      if (it.object->chunks[i].node == node) own.push_back(i);
    }
    for (std::size_t i = own.size(); i > 1; --i) std::swap(own[i - 1], own[random.below(i)]);
    std::vector<Region> regions;
    std::uint64_t at = 4096 + random.below(100);
    Region region;
    region.base = at;
    const auto close = [&] {
      if (at == region.base) return;
      region.id = RegionId(static_cast<std::uint32_t>(10 * node + regions.size()));
      region.length = at - region.base;
      regions.push_back(region);
      region.base = at;
    };
    for (const std::uint32_t stripe : own) {
      if (regions.size() < 2 && random.below(4) == 0) close();
      it.sources[node].stripes.push_back({stripe, at});
      at += it.object->chunks[stripe].length + (random.below(3) == 0 ? 64 : 0);
    }
    close();
    it.regions.push_back(std::make_unique<RegionTable>(
        RegionTable::make(TableGeneration(1), std::move(regions)).value()));
    it.sources[node].node = node;
    it.sources[node].regions = it.regions.back().get();
  }
}

/// Ranges of granules with gaps between them; often without the first stripe.
inline std::vector<ObjectRange> random_ranges(std::uint64_t size, SeededRandom& random) {
  std::vector<ObjectRange> ranges;
  std::uint64_t at = random.below(3) * kGranuleBytes;
  while (at < size) {
    const std::uint64_t length =
        std::min(size - at, (1 + random.below(9)) * std::uint64_t{kGranuleBytes});
    ranges.push_back({at, length});
    at += length + random.below(4) * kGranuleBytes;
  }
  return ranges;
}

/// Cuts the ranges at random granules, and scatters them over two chunks with gaps.
inline void scatter(ObjectDemand& demand, SeededRandom& random) {
  demand.chunk_bytes = {random.below(100), random.below(100)};
  for (const ObjectRange& range : demand.ranges) {
    for (std::uint64_t at = 0; at < range.length;) {
      const std::uint64_t length =
          std::min(range.length - at, (1 + random.below(5)) * std::uint64_t{kGranuleBytes});
      const auto chunk = static_cast<std::uint32_t>(random.below(2));
      demand.landings.push_back({{range.offset + at, length}, chunk, demand.chunk_bytes[chunk]});
      demand.chunk_bytes[chunk] += length + random.below(3) * 1000;
      at += length;
    }
  }
}

inline ObjectScenario random_object(std::uint64_t seed) {
  SeededRandom random(seed);
  ObjectScenario it;
  const std::uint64_t stripe_size = (1 + random.below(5)) * kGranuleBytes;
  const std::uint64_t size = random.below(40 * kGranuleBytes);
  const auto nodes = static_cast<std::uint32_t>(1 + random.below(4));
  it.object = object_over(size, stripe_size, nodes, random);
  place_stripes(it, random);
  it.demand = ObjectDemand::whole(size);
  if (random.below(2) == 0) it.demand.ranges = random_ranges(size, random);
  if (random.below(2) == 0) scatter(it.demand, random);
  it.limits.max_chunk_bytes = (1 + random.below(8)) * kGranuleBytes;
  it.limits.max_read_bytes = 1 + random.below(4 * kGranuleBytes);
  return it;
}

/// Where a granule shall land, by its offset in the object: chunk and offset.
using GranulePlaces = std::map<std::uint64_t, std::pair<std::uint32_t, std::uint64_t>>;

inline GranulePlaces wanted_places(const ObjectScenario& it) {
  GranulePlaces places;
  const std::uint64_t chunk_bytes = it.limits.max_chunk_bytes / kGranuleBytes * kGranuleBytes;
  std::uint64_t packed = 0;
  for (const ObjectRange& range : it.demand.ranges) {
    for (std::uint64_t at = 0; at < range.length; at += kGranuleBytes, packed += kGranuleBytes) {
      places[range.offset + at] = {static_cast<std::uint32_t>(packed / chunk_bytes),
                                   packed % chunk_bytes};
    }
  }
  for (const ObjectLanding& landing : it.demand.landings) {
    for (std::uint64_t at = 0; at < landing.range.length; at += kGranuleBytes) {
      places[landing.range.offset + at] = {landing.chunk, landing.chunk_offset + at};
    }
  }
  return places;
}

}  // namespace corail::testing
