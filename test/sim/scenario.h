#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/memory/slab_pool.h"
#include "engine/plan/layout.h"
#include "engine/rail/mock/fault_script.h"
#include "engine/rail/mock/mock_transport.h"
#include "engine/store/store_types.h"
#include "rpc/options.h"
#include "test/sim/block_names.h"

namespace corail::sim {

inline constexpr std::size_t kNodes = 2;
/// How one node is made.
struct NodePlan {
  std::vector<MockOptions> ports;
  NodeOptions options;
  StoreOptions store;
  SlabPoolOptions pool;
  std::uint32_t parts = 1;  // of a save
  /// What the first rail through each port does wrong, by port; where there is one, none is drawn.
  std::vector<FaultScript> scripts;
  /// How late the store's timers may call back.
  Duration lease_timers_late{};
};

/// Everything of a seed that is decided before it starts.
struct Scenario {
  /// Nothing goes wrong and everything has room and time: then every fetch has to succeed.
  bool calm = false;
  std::shared_ptr<const Layout> layout;
  std::vector<NodePlan> nodes;
  bool short_leases = false;
  /// Whether the nodes share a control connection; then both connect at the very beginning.
  bool shared_sessions = false;
  Duration control_latency{};
  std::uint32_t control_buffer_bytes = 0;
  std::uint32_t readers = 0;  // per node
  std::uint32_t reads = 0;    // per reader
  std::uint32_t saves = 0;    // per node
  Duration pause{};           // between what one actor does, at most
  /// Out of a hundred.
  std::uint32_t cancels = 0;
  std::uint32_t short_deadlines = 0;
  std::uint32_t faulty_rails = 0;
  std::uint32_t late_streams = 0;
  std::uint32_t flipping_streams = 0;
  std::uint32_t mishaps = 0;  // of the driver: cuts, deaths, closes
  std::uint32_t waits = 0;    // for blocks that are not there
};

Scenario draw_scenario(Random& random);

/// What one rail of a seed will do wrong.
FaultScript draw_faults(Random& random);

/// Uniform in [0, most], and in [least, most].
Duration draw_time(Random& random, Duration most);
std::uint64_t draw_between(Random& random, std::uint64_t least, std::uint64_t most);
bool draw_chance(Random& random, std::uint32_t percent);

}  // namespace corail::sim
