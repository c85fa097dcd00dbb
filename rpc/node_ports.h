#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/exec/executor.h"
#include "engine/memory/memory_registrar.h"
#include "engine/memory/region_registry.h"
#include "engine/memory/slab_pool.h"
#include "engine/rail/port.h"
#include "engine/rail/rail_spec.h"
#include "engine/store/block_store.h"
#include "rpc/options.h"

namespace corail {

/// The rails that the options name, on this machine's devices. Fails where a spec is none, or what
/// it asks for is not there.
Result<std::vector<RailSpec>> rail_specs_of(const NodeOptions& options);

/// What a rail's thread may spin: it needs a core of its own beside the home executor's, and a
/// device that is polled. Pure.
Duration spin_budget(const NodeOptions& options, std::span<const RailSpec> specs,
                     std::uint32_t threads, std::uint32_t cores);

/// Executors for the rails' ports, without threads yet: as many as the options say, or cores.
std::vector<std::unique_ptr<Executor>> make_rail_executors(const NodeOptions& options,
                                                           std::span<const RailSpec> specs);

/// A port for each spec, on the executors in turn, which have no threads yet. Fails where a device
/// is not there.
Result<std::vector<std::unique_ptr<Port>>> make_node_ports(
    const NodeOptions& options, std::span<const RailSpec> specs,
    std::span<const std::unique_ptr<Executor>> executors, Clock& clock, Random& random);

/// What memory has to be registered with, by index of the port; empty where no port needs it.
MemoryRegistrars registrars_of(std::span<const std::unique_ptr<Port>> ports);

/// The memory that reads land in; nothing is mapped yet.
std::unique_ptr<SlabPool> make_node_memory(const NodeOptions& options,
                                           std::span<const std::unique_ptr<Port>> ports);

/// The blocks that a node holds, in memory that its ports serve; null where the options give it
/// none. What is given outlives it. Fails with kOutOfMemory.
Result<std::unique_ptr<BlockStore>> make_block_store(const NodeOptions& options,
                                                     std::span<const std::unique_ptr<Port>> ports,
                                                     RegionRegistry& registry, Clock& clock,
                                                     asio::any_io_executor home, BootId boot);

}  // namespace corail
