#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/base/random.h"
#include "engine/base/region_table.h"
#include "engine/object/stripe_checksum.h"
#include "engine/plan/object_plan.h"
#include "engine/rail/rail_door.h"
#include "engine/read/object_integrity.h"
#include "test/support/pattern.h"

namespace corail::test {

/// One node's memory with its stripes of an object, back to back in one region.
class HeldStripes final : public LeaseGate {
 public:
  explicit HeldStripes(std::uint32_t node) : id_(node + 1), keeper_(std::make_shared<int>(0)) {}
  ~HeldStripes() override { CORAIL_CHECK(pins() == 0, "pins outlive no memory (I6)"); }

  Result<PinnedBytes> admit(SessionId, ReadContext, RegionId region, std::uint64_t offset,
                            std::uint64_t length) override {
    if (!lease_live) return Error(Errc::kLeaseExpired, "the test let the lease expire");
    if (region != id_ || offset > memory.size() || length > memory.size() - offset) {
      return Error(Errc::kRefused, "outside of what the test holds");
    }
    return PinnedBytes(std::span(memory).subspan(offset, length), Pin(keeper_));
  }

  std::size_t pins() const noexcept { return static_cast<std::size_t>(keeper_.use_count()) - 1; }
  std::uint64_t base() const noexcept { return reinterpret_cast<std::uintptr_t>(memory.data()); }

  void publish() {
    Region region;
    region.id = id_;
    region.base = base();
    region.length = memory.size();
    std::vector<Region> regions;
    if (!memory.empty()) regions.push_back(region);
    table = RegionTable::make(TableGeneration(1), std::move(regions)).value();
  }

  std::vector<std::byte> memory;
  RegionTable table;
  std::atomic<bool> lease_live{true};

 private:
  const RegionId id_;
  const std::shared_ptr<const int> keeper_;
};

/// An object in the memory of some nodes, with position-dependent content, and what a reader would
/// be told of it. Stripes are dealt by chance, the first to the first node.
struct HeldObject {
  HeldObject(std::uint64_t size, std::uint64_t stripe_size, std::uint32_t node_count,
             std::uint64_t seed)
      : content(size) {
    fill_pattern(content, seed, 0);
    SeededRandom random(seed);
    auto made = std::make_shared<ObjectDescriptor>();
    made->key = "weights/shard-3";
    made->size = size;
    made->generation = ObjectGeneration(3);
    made->stripe_size = stripe_size;
    for (std::uint32_t node = 0; node < node_count; ++node) {
      made->nodes.push_back({NodeId(node), {"node" + std::to_string(node)}});
      nodes.push_back(std::make_unique<HeldStripes>(node));
      sources.emplace_back().node = node;
    }
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t at = 0; at < size; at += stripe_size) {
      const auto bytes = std::span(content).subspan(at, std::min(stripe_size, size - at));
      ObjectChunk chunk;
      if (at > 0) chunk.node = static_cast<std::uint32_t>(random.below(node_count));
      chunk.offset = ~std::uint64_t{0};  // informs only
      chunk.length = bytes.size();
      chunk.checksum = stripe_checksum(bytes);
      auto& memory = nodes[chunk.node]->memory;
      offsets.push_back(memory.size());
      memory.insert(memory.end(), bytes.begin(), bytes.end());
      made->chunks.push_back(chunk);
    }
    for (std::uint32_t node = 0; node < node_count; ++node) {
      nodes[node]->publish();
      sources[node].regions = &nodes[node]->table;
    }
    for (std::uint32_t i = 0; i < offsets.size(); ++i) {
      const std::uint32_t node = made->chunks[i].node;
      sources[node].stripes.push_back({i, nodes[node]->base() + offsets[i]});
    }
    descriptor = std::move(made);
  }

  std::shared_ptr<const ObjectPlan> plan(const ObjectDemand& demand, const PlanLimits& limits) {
    auto made = plan_object_read(descriptor, sources, demand, limits);
    CORAIL_CHECK(made, "what the test holds can be planned");
    return std::make_shared<const ObjectPlan>(std::move(*made));
  }

  /// With the granules of every stripe.
  ObjectExpectation granules() const {
    ObjectExpectation expected;
    std::uint64_t at = 0;
    for (const ObjectChunk& chunk : descriptor->chunks) {
      auto& of = expected.granules.emplace_back();
      for (std::uint64_t done = 0; done < chunk.length; done += kGranuleBytes) {
        const std::uint64_t length = std::min<std::uint64_t>(kGranuleBytes, chunk.length - done);
        of.push_back(xxh3_64(std::span<const std::byte>(content).subspan(at + done, length)));
      }
      at += chunk.length;
    }
    return expected;
  }

  std::vector<std::byte> content;
  std::shared_ptr<const ObjectDescriptor> descriptor;
  std::vector<std::unique_ptr<HeldStripes>> nodes;
  std::vector<StripeSource> sources;
};

}  // namespace corail::test
