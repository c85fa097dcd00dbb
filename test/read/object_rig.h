#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/memory/slab_pool.h"
#include "engine/read/owner_group.h"
#include "engine/read/read_session.h"
#include "test/read/held_object.h"
#include "test/support/mock_rails.h"
#include "test/support/scripted_owner.h"
#include "test/support/virtual_world.h"

namespace corail::test {

inline constexpr std::byte kUntouched{0xEE};

/// Nodes that hold an object, mock rails to each, and a destination.
class ObjectRig {
 public:
  ObjectRig(std::uint64_t size, std::uint64_t stripe_size, std::vector<std::vector<RailPlan>> plans)
      : held(size, stripe_size, static_cast<std::uint32_t>(plans.size()), size) {
    for (std::size_t node = 0; node < plans.size(); ++node) {
      owners.push_back(std::make_unique<ScriptedOwner>(world.executor(), world.clock()));
      rails.push_back(
          std::make_unique<MockRails>(world, *held.nodes[node], std::move(plans[node]), node));
    }
    std::vector<OwnerGroup::Member> all;
    for (std::size_t node = 0; node < owners.size(); ++node) {
      all.push_back({held.descriptor->nodes[node].id, owners[node].get()});
    }
    group = std::move(OwnerGroup::make(all, 0).value());
  }

  /// A read of the demand over all rails, with granules known where `granules`.
  ReadRequest request(const ObjectDemand& demand, bool granules) {
    plan = held.plan(demand, PlanLimits());
    ReadRequest request;
    request.read = ReadId(1);
    request.plan = plan;
    for (const ChunkSpec& spec : plan->chunks()) {
      request.chunks.push_back(pool.allocate(spec.bytes, 0).value());
      std::ranges::fill(request.chunks.back().bytes(), kUntouched);
    }
    chunks = request.chunks;
    // A node that the demand does not need is no owner of the plan.
    for (std::uint32_t owner = 0; owner < plan->owners(); ++owner) {
      const std::uint32_t node = plan->total_bytes() == 0 ? 0 : plan->owner_node(owner);
      for (Rail* rail : rails[node]->rails()) {
        request.rails.push_back(rail);
        request.rail_owners.push_back(owner);
      }
    }
    request.max_slice_bytes = kMiB;
    request.expectation = granules ? held.granules() : ObjectExpectation();
    request.deadline = world.now() + std::chrono::minutes(1);
    request.fence_deadline = std::chrono::milliseconds(500);
    return request;
  }

  Result<void> run(ReadRequest request) {
    for (const auto& owner : owners) owner->lease(request.read);
    ReadSession session(world.executor(), world.clock(), *group, std::move(request));
    const TimePoint begin = world.now();
    auto result = world.run(session.run(report));
    took = world.now() - begin;
    return result;
  }

  /// Every byte of the destination is that of the object which belongs there, or untouched.
  std::string complaint(const ObjectDemand& demand) const {
    std::vector<std::vector<std::byte>> wanted;
    for (const SlabChunk& chunk : chunks) wanted.emplace_back(chunk.bytes().size(), kUntouched);
    for (const ReadPlan::Span& span : plan->spans()) {
      const auto from = static_cast<std::ptrdiff_t>(plan->object_offset(span.linear));
      std::copy_n(held.content.begin() + from, span.length,
                  wanted[span.chunk].begin() + static_cast<std::ptrdiff_t>(span.chunk_offset));
    }
    // By the demand's own words as well, where it has any.
    for (const ObjectLanding& landing : demand.landings) {
      const auto bytes =
          std::span(held.content).subspan(landing.range.offset, landing.range.length);
      if (!std::ranges::equal(
              bytes,
              std::span(wanted[landing.chunk]).subspan(landing.chunk_offset, bytes.size()))) {
        return "the plan lands elsewhere";
      }
    }
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (!std::ranges::equal(chunks[i].bytes(), wanted[i])) return fmt::format("chunk {}", i);
    }
    return "";
  }

  std::uint64_t pins() const {
    std::uint64_t sum = 0;
    for (const auto& node : held.nodes) sum += node->pins();
    return sum;
  }
  std::size_t leases() const {
    std::size_t sum = 0;
    for (const auto& owner : owners) sum += owner->leases();
    return sum;
  }

  VirtualWorld world;
  HeldObject held;
  std::vector<std::unique_ptr<ScriptedOwner>> owners;
  std::unique_ptr<OwnerGroup> group;
  SlabPool pool{SlabPoolOptions()};
  std::vector<std::unique_ptr<MockRails>> rails;  // by node
  std::shared_ptr<const ObjectPlan> plan;
  std::vector<SlabChunk> chunks;
  ReadReport report;
  Duration took{};
};

inline RailPlan rail_of(std::uint64_t bytes_per_second) {
  RailPlan rail;
  rail.options.link.bytes_per_second = bytes_per_second;
  rail.options.link.packet_bytes = 64 * kKiB;
  rail.window.bytes = 2 * kMiB;
  rail.window.max_slice_bytes = kMiB;
  return rail;
}

inline std::vector<std::vector<RailPlan>> rails_to(std::size_t nodes, std::size_t each) {
  return std::vector<std::vector<RailPlan>>(nodes,
                                            std::vector<RailPlan>(each, rail_of(125'000'000)));
}

}  // namespace corail::test
