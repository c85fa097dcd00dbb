#pragma once

#include "engine/base/random.h"
#include "engine/rail/mock/mock_holder.h"
#include "test/disk/simulated_disk.h"
#include "test/sim/objects/model.h"
#include "test/sim/objects/scenario.h"
#include "test/sim/plants.h"
#include "test/support/virtual_world.h"

namespace corail::sim {

/// What the nodes and users of a seed of objects share.
struct ObjectSetup {
  test::VirtualWorld& world;
  Random& random;
  MockNet& net;
  ObjectModel& model;
  test::SimulatedDisk& disk;  // of the holder's machine
  Plant plant;
  const ObjectScenario& scenario;
};

}  // namespace corail::sim
