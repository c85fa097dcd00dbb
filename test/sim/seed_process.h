#pragma once

#include <cstdint>

#include "test/sim/seed_run.h"

namespace corail::sim {

/// Runs a seed in a process of its own, a copy of this one: each seed then finds the same memory,
/// whatever ran before it, and one that crashes takes nothing with it. A crash, or a complaint of a
/// sanitizer, is a violation as well (of invariant 0). Throws std::system_error where the system
/// has no process left.
SeedResult run_in_child(MakeSeed make, std::uint64_t seed, Plant plant, bool trace);

}  // namespace corail::sim
