#pragma once

#include <memory>
#include <span>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/exec/executor.h"
#include "engine/memory/memory_registrar.h"
#include "engine/rail/port.h"
#include "rpc/options.h"

namespace corail {

/// A port for each rail spec of the options, on the executors in turn, which have no threads yet.
/// Fails where a spec is none, or its device is not there.
Result<std::vector<std::unique_ptr<Port>>> make_node_ports(
    const NodeOptions& options, std::span<const std::unique_ptr<Executor>> executors, Clock& clock,
    Random& random);

/// What memory has to be registered with, by index of the port; empty where no port needs it.
MemoryRegistrars registrars_of(std::span<const std::unique_ptr<Port>> ports);

}  // namespace corail
