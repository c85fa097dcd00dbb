#pragma once

#include <cstdint>
#include <memory>

#include "test/sim/plants.h"
#include "test/sim/seed_result.h"

namespace corail::sim {

/// One run of a simulation, all of it drawn from one number.
class SeedRun {
 public:
  virtual ~SeedRun() = default;

  /// To the end, or to the first violation. After one, it must not be destroyed: what it consists
  /// of was not closed.
  virtual SeedResult run() = 0;
};

/// Which simulation it is.
using MakeSeed = std::unique_ptr<SeedRun> (*)(std::uint64_t seed, Plant plant, bool trace);

}  // namespace corail::sim
