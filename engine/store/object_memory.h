#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/memory/memory_registrar.h"
#include "engine/memory/pin.h"
#include "engine/memory/region_registry.h"
#include "engine/memory/slab.h"
#include "engine/store/store_types.h"

namespace corail {

namespace detail {
class Arena;
}

struct ObjectMemoryOptions {
  std::vector<NodeCapacity> nodes;  // each node once; a slab each
  SlabBacking backing = SlabBacking::kAnonymous;
  bool huge_pages = false;
  /// Devices that peers read objects through; their keys are published in this order.
  MemoryRegistrars registrars{};
};

/// The bytes of one stripe in memory that peers may read: inside one published region (I4). Shared:
/// they are reused when the last one lets go, on whichever thread that happens (I6).
class StripeBytes {
 public:
  StripeBytes(std::shared_ptr<detail::Arena> arena, std::uint64_t offset, std::uint64_t bytes);
  StripeBytes(const StripeBytes&) = delete;
  StripeBytes& operator=(const StripeBytes&) = delete;
  ~StripeBytes();

  /// Written before the stripe's object is committed, immutable from then on.
  std::span<std::byte> bytes() const noexcept;
  RegionId region() const noexcept;
  std::uint64_t region_offset() const noexcept;  // bytes from the region's base

 private:
  const std::shared_ptr<detail::Arena> arena_;
  const std::uint64_t offset_;
  const std::uint64_t bytes_;
};

/// Where a node keeps objects in memory: a slab of each NUMA node, each published as one region, or
/// as several where a device serves no more under one key. Regions are unpublished when it goes,
/// and the memory stays until the last stripe has gone. Any thread.
class ObjectMemory {
 public:
  /// Maps and registers, which blocks while pages are pinned. The registry must outlive it.
  /// kInvalidArgument (no node, a node twice, no bytes), else as Slab::create(), register_with()
  /// and RegionRegistry::add().
  static Result<std::shared_ptr<ObjectMemory>> create(const ObjectMemoryOptions& options,
                                                      RegionRegistry& registry);
  ObjectMemory(const ObjectMemory&) = delete;
  ObjectMemory& operator=(const ObjectMemory&) = delete;
  ~ObjectMemory();

  /// Room for a stripe, more than 0 bytes: in the slab of node `number` modulo their number, so
  /// that an object's stripes are spread, else in another. kTooLarge: no region is that long.
  /// kOutOfMemory.
  Result<std::shared_ptr<StripeBytes>> allocate(std::uint64_t bytes, std::uint32_t number);

  std::uint64_t capacity_bytes() const noexcept;
  std::uint64_t free_bytes() const;
  /// One line per slab: Slab::describe().
  std::vector<std::string> describe() const;

 private:
  explicit ObjectMemory(RegionRegistry& registry) : registry_(registry) {}

  RegionRegistry& registry_;
  std::vector<std::shared_ptr<detail::Arena>> arenas_;
};

}  // namespace corail
