#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/memory/slab_pool.h"
#include "engine/rail/mock/mock_transport.h"
#include "rpc/options.h"

namespace corail::sim {

/// Keys of a seed's objects: few, so that puts, reads and deletes of one meet.
inline constexpr std::size_t kObjectKeys = 3;
std::string object_key(std::size_t key);

/// How one node is made.
struct ObjectNodePlan {
  std::vector<MockOptions> ports;
  NodeOptions options;
  SlabPoolOptions pool;
};

/// What is decided before a seed of objects starts.
struct ObjectScenario {
  /// Nothing goes wrong and everything has room and time: then all succeeds, but for what others
  /// have replaced or deleted.
  bool calm = false;
  ObjectNodePlan holder;
  ObjectNodePlan user;
  /// Directories of the holder's store; 0: memory.
  std::size_t directories = 0;
  std::uint64_t memory_bytes = 0;
  Duration lease_timers_late{};
  std::uint32_t disk_turns = 0;  // see SimulatedDisk::take_turns
  Duration control_latency{};
  std::uint32_t control_buffer_bytes = 0;
  std::uint32_t writers = 0;
  std::uint32_t readers = 0;
  std::uint32_t puts = 0;   // per writer
  std::uint32_t reads = 0;  // per reader
  Duration pause{};         // between what one actor does, at most
  /// Out of a hundred.
  std::uint32_t cancels = 0;
  std::uint32_t aborts = 0;
  std::uint32_t deletes = 0;
  std::uint32_t short_deadlines = 0;
  std::uint32_t faulty_rails = 0;
  std::uint32_t late_streams = 0;
  std::uint32_t mishaps = 0;
  std::uint32_t deaths = 0;       // of mishaps: the holder dies, and starts again
  std::uint32_t disk_faults = 0;  // of mishaps: a call of a disk fails, or the disk is full
};

ObjectScenario draw_object_scenario(Random& random);

}  // namespace corail::sim
