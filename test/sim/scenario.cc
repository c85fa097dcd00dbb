#include "test/sim/scenario.h"

#include <utility>

#include "engine/base/check.h"

namespace corail::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

std::shared_ptr<const Layout> draw_layout(Random& random) {
  std::vector<Slot> slots(draw_between(random, 1, 4));
  const bool equal = draw_chance(random, 50);
  const auto draw_bytes = [&] {
    const std::uint64_t bytes = std::uint64_t{64} << random.below(8);
    return static_cast<std::uint32_t>(draw_chance(random, 25) ? bytes - 16 * random.below(3)
                                                              : bytes);
  };
  const std::uint32_t bytes = draw_bytes();
  for (Slot& slot : slots) {
    slot.k_bytes = equal ? bytes : draw_bytes();
    slot.v_bytes = equal ? bytes : draw_bytes();
  }
  if (slots.size() > 1 && draw_chance(random, 25)) slots.back().v_bytes = 0;
  auto layout = Layout::make(std::move(slots));
  CORAIL_CHECK(layout, "the drawn shape is valid");
  return std::make_shared<const Layout>(std::move(*layout));
}

MockOptions draw_port(Random& random) {
  MockOptions port;
  port.link.bytes_per_second = std::uint64_t{2'000'000} << random.below(8);
  port.link.latency = microseconds(draw_between(random, 5, 500));
  if (draw_chance(random, 50)) port.link.jitter = draw_time(random, microseconds(200));
  port.link.packet_bytes = kKiB << random.below(5);
  port.max_slice_bytes = 4 * kKiB << random.below(4);
  port.max_slices = static_cast<std::uint32_t>(draw_between(random, 2, 32));
  port.reports_landing = draw_chance(random, 75);
  port.shared_fence = draw_chance(random, 50);
  return port;
}

NodePlan draw_node(Random& random, const Scenario& scenario) {
  NodePlan plan;
  plan.ports.resize(draw_between(random, 1, 3));
  for (MockOptions& port : plan.ports) port = draw_port(random);
  plan.options.max_read_bytes = 2 * kKiB << random.below(5);
  plan.options.window_bytes = plan.options.max_read_bytes * draw_between(random, 1, 6);
  plan.options.call_deadline = milliseconds(300);
  plan.options.keep_alive = milliseconds(draw_between(random, 20, 100));
  plan.options.fence_deadline = milliseconds(draw_between(random, 2, 20));
  // Some requesters leave no margin at all: the holder has to protect itself.
  plan.options.lease_margin =
      draw_chance(random, 50) ? -Duration(std::chrono::hours(1)) : milliseconds(random.below(3));
  plan.pool.slab_bytes = 2 * kMiB;
  plan.pool.capacity_bytes =
      plan.pool.slab_bytes * (scenario.calm ? 16 : draw_between(random, 1, 3));
  plan.pool.numa_nodes.clear();
  plan.options.destination_bytes = plan.pool.capacity_bytes;
  const std::uint64_t arenas = draw_between(random, 1, 2);
  const std::uint64_t block = scenario.layout->block_bytes();
  for (std::uint64_t arena = 0; arena < arenas; ++arena) {
    NodeCapacity capacity;
    capacity.numa_node = static_cast<std::int32_t>(arena);
    capacity.bytes = block * (scenario.calm ? 8 * kBlocks : draw_between(random, 10, 40));
    plan.store.nodes.push_back(capacity);
  }
  if (draw_chance(random, 50)) plan.lease_timers_late = milliseconds(random.below(10));
  plan.parts = scenario.layout->lanes() > 1 && draw_chance(random, 40) ? 2 : 1;
  plan.store.max_extent_bytes = block * draw_between(random, 1, 8);
  plan.store.max_leases_per_requester =
      scenario.calm ? 64 : static_cast<std::uint32_t>(draw_between(random, 2, 8));
  return plan;
}

}  // namespace

Duration draw_time(Random& random, Duration most) {
  return Duration(
      static_cast<Duration::rep>(random.below(static_cast<std::uint64_t>(most.count()) + 1)));
}

std::uint64_t draw_between(Random& random, std::uint64_t least, std::uint64_t most) {
  return least + random.below(most - least + 1);
}

bool draw_chance(Random& random, std::uint32_t percent) { return random.below(100) < percent; }

Scenario draw_scenario(Random& random) {
  Scenario scenario;
  scenario.calm = draw_chance(random, 10);
  scenario.shared_sessions = draw_chance(random, 40);
  scenario.layout = draw_layout(random);
  // A lease lasts whole milliseconds on the wire; both sides ask for the same.
  scenario.short_leases = !scenario.calm && draw_chance(random, 50);
  const Duration ttl =
      scenario.short_leases ? milliseconds(draw_between(random, 3, 60)) : milliseconds(60'000);
  for (std::size_t node = 0; node < kNodes; ++node) {
    scenario.nodes.push_back(draw_node(random, scenario));
    scenario.nodes.back().options.lease_ttl = ttl;
  }
  scenario.control_latency = microseconds(draw_between(random, 5, 1000));
  scenario.control_buffer_bytes = static_cast<std::uint32_t>(draw_between(random, 512, 16'384));
  scenario.readers = static_cast<std::uint32_t>(draw_between(random, 1, 4));
  scenario.reads = static_cast<std::uint32_t>(draw_between(random, 3, 10));
  scenario.saves = static_cast<std::uint32_t>(draw_between(random, 8, 40));
  scenario.pause = milliseconds(draw_between(random, 1, 6));
  if (scenario.calm) return scenario;
  const auto draw_some = [&](std::uint32_t most) {
    return draw_chance(random, 50) ? static_cast<std::uint32_t>(random.below(most)) : 0;
  };
  scenario.cancels = draw_some(60);
  scenario.short_deadlines = draw_some(50);
  scenario.faulty_rails = draw_some(80);
  scenario.late_streams = draw_some(100);
  scenario.flipping_streams = draw_some(50);
  scenario.mishaps = draw_some(100);
  scenario.waits = draw_some(60);
  return scenario;
}

FaultScript draw_faults(Random& random) {
  constexpr std::uint64_t kKinds = static_cast<std::uint64_t>(FaultKind::kStuckClose) + 1;
  FaultScript script;
  const std::uint64_t count = draw_between(random, 1, 4);
  for (std::uint64_t i = 0; i < count; ++i) {
    Fault fault(static_cast<FaultKind>(random.below(kKinds)), random.below(24));
    fault.packet = random.below(3);
    fault.delay = draw_time(random, milliseconds(4));
    fault.amount = draw_between(random, 1, 2000);
    if (fault.kind == FaultKind::kSlow) fault.amount = draw_between(random, 50'000, 2'000'000);
    script.add(fault);
  }
  return script;
}

}  // namespace corail::sim
