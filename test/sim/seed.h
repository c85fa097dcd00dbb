#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/random.h"
#include "test/sim/driver.h"
#include "test/sim/journal.h"
#include "test/sim/seed_result.h"
#include "test/sim/sim_node.h"

namespace corail::sim {

/// One run of the simulation: two nodes, their users and their misfortunes, all drawn from one
/// number, on one thread in virtual time.
class Seed {
 public:
  Seed(std::uint64_t seed, Plant plant, bool trace);
  Seed(const Seed&) = delete;
  Seed& operator=(const Seed&) = delete;

  /// To the end, or to the first violation. After one, the seed must not be destroyed: what it
  /// consists of was not closed.
  SeedResult run();

 private:
  bool step();
  bool run_until(bool (*reached)(const Seed&), const char* what);
  void check_often();
  void check_sometimes();
  void check_end();
  SeedResult result() const;

  SeededRandom random_;
  SeededRandom turns_;
  test::VirtualWorld world_;
  Journal journal_;
  const Scenario scenario_;
  Model model_;
  MockNet net_;
  std::vector<std::unique_ptr<SimNode>> nodes_;
  std::unique_ptr<Driver> driver_;
  test::VirtualWorld::Outcome<bool> closed_;
  std::uint64_t steps_ = 0;
};

}  // namespace corail::sim
