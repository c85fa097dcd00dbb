#pragma once

#include <cstdint>

#include "engine/plan/part_table.h"
#include "test/plan/scenario.h"

namespace corail::testing {

/// The scenario's addresses as a part table: phases and lane sets as the seed has them, shapes and
/// runs as the addresses allow, with and without indices.
PartTable random_parts(const Scenario& scenario, std::uint64_t seed);

/// Changes one number of the table, mostly for the worse.
void mutate(PartTable& parts, std::uint64_t seed);

}  // namespace corail::testing
