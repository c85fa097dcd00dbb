#pragma once

#include <cstdint>
#include <memory>

#include "engine/base/random.h"
#include "test/sim/journal.h"
#include "test/sim/objects/driver.h"
#include "test/sim/seed_run.h"

namespace corail::sim {

/// One run of the simulation of objects: a holder, a user, and their misfortunes, on one thread in
/// virtual time.
class ObjectSeed final : public SeedRun {
 public:
  ObjectSeed(std::uint64_t seed, Plant plant, bool trace);
  ObjectSeed(const ObjectSeed&) = delete;
  ObjectSeed& operator=(const ObjectSeed&) = delete;

  SeedResult run() override;

 private:
  bool step();
  bool run_until(bool (*reached)(const ObjectSeed&), const char* what);
  void check_end();
  SeedResult result() const;

  SeededRandom random_;
  SeededRandom turns_;
  test::VirtualWorld world_;
  Journal journal_;
  const ObjectScenario scenario_;
  ObjectModel model_;
  MockNet net_;
  test::SimulatedDisk disk_;
  std::unique_ptr<ObjectDriver> driver_;
  test::VirtualWorld::Outcome<bool> started_;
  test::VirtualWorld::Outcome<bool> closed_;
  std::uint64_t steps_ = 0;
};

/// As MakeSeed.
std::unique_ptr<SeedRun> make_object_seed(std::uint64_t seed, Plant plant, bool trace);

}  // namespace corail::sim
