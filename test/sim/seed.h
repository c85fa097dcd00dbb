#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/random.h"
#include "test/sim/driver.h"
#include "test/sim/journal.h"
#include "test/sim/seed_run.h"
#include "test/sim/sim_node.h"

namespace corail::sim {

/// One run of the simulation: two nodes, their users and their misfortunes, all drawn from one
/// number, on one thread in virtual time.
class Seed final : public SeedRun {
 public:
  Seed(std::uint64_t seed, Plant plant, bool trace);
  Seed(const Seed&) = delete;
  Seed& operator=(const Seed&) = delete;

  SeedResult run() override;

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

/// As MakeSeed.
std::unique_ptr<SeedRun> make_block_seed(std::uint64_t seed, Plant plant, bool trace);

}  // namespace corail::sim
