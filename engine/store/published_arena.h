#pragma once

#include <memory>

#include "engine/base/result.h"
#include "engine/memory/memory_registrar.h"
#include "engine/memory/region_registry.h"
#include "engine/memory/slab.h"
#include "engine/store/arena.h"

namespace corail::detail {

/// Maps the slab, registers it with the devices for peers to read, and publishes it. Blocks while
/// pages are pinned. Fails as Slab::create(), register_with() and RegionRegistry::add() do; nothing
/// stays published then.
Result<std::shared_ptr<Arena>> publish_arena(const SlabOptions& wanted,
                                             const MemoryRegistrars& registrars,
                                             RegionRegistry& registry);

/// Peers are told of its regions no more. The memory stays as long as anything holds the arena.
void unpublish_arena(const Arena& arena, RegionRegistry& registry);

}  // namespace corail::detail
