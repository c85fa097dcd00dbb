#include "test/sim/objects/scenario.h"

#include <fmt/core.h>

#include <chrono>

#include "engine/object/object_descriptor.h"
#include "test/sim/scenario.h"

namespace corail::sim {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

/// The longest object, see draw_size() of the writers, fits into a slab.
constexpr std::uint64_t kSlabBytes = 2 * kMiB;

MockOptions draw_port(Random& random) {
  MockOptions port;
  port.link.bytes_per_second = std::uint64_t{16'000'000} << random.below(6);
  port.link.latency = microseconds(draw_between(random, 5, 500));
  if (draw_chance(random, 50)) port.link.jitter = draw_time(random, microseconds(200));
  port.link.packet_bytes = 8 * kKiB << random.below(4);
  port.max_slice_bytes = 32 * kKiB << random.below(5);
  port.max_slices = static_cast<std::uint32_t>(draw_between(random, 2, 32));
  port.reports_landing = draw_chance(random, 75);
  port.shared_fence = draw_chance(random, 50);
  return port;
}

ObjectNodePlan draw_node(Random& random, bool calm) {
  ObjectNodePlan plan;
  plan.ports.resize(draw_between(random, 1, 3));
  for (MockOptions& port : plan.ports) port = draw_port(random);
  plan.options.max_read_bytes = 32 * kKiB << random.below(5);
  plan.options.window_bytes = plan.options.max_read_bytes * draw_between(random, 1, 6);
  plan.options.call_deadline = milliseconds(400);
  plan.options.keep_alive = milliseconds(draw_between(random, 20, 100));
  plan.options.fence_deadline = milliseconds(draw_between(random, 4, 40));
  plan.options.lease_margin = milliseconds(random.below(3));
  plan.options.put_bytes = calm ? 0 : draw_between(random, 1, 4) * kMiB / 2;
  plan.options.objects.staging_buffers = draw_between(random, 1, 4);
  plan.options.objects.staging_buffer_bytes = kGranuleBytes << random.below(2);
  plan.pool.slab_bytes = kSlabBytes;
  plan.pool.capacity_bytes = kSlabBytes * (calm ? 32 : draw_between(random, 2, 6));
  plan.pool.numa_nodes.clear();
  plan.options.destination_bytes = plan.pool.capacity_bytes;
  return plan;
}

void draw_misfortunes(Random& random, ObjectScenario& scenario) {
  const auto draw_some = [&](std::uint32_t most) {
    return draw_chance(random, 50) ? static_cast<std::uint32_t>(random.below(most)) : 0;
  };
  scenario.cancels = draw_some(80);
  scenario.short_deadlines = draw_some(50);
  scenario.faulty_rails = draw_some(80);
  scenario.late_streams = draw_some(100);
  scenario.mishaps = draw_chance(random, 60) ? 100 : draw_some(100);
  scenario.deaths = draw_some(100);
  scenario.disk_faults = draw_some(100);
}

}  // namespace

std::string object_key(std::size_t key) { return fmt::format("object-{}", key); }

ObjectScenario draw_object_scenario(Random& random) {
  ObjectScenario scenario;
  scenario.calm = draw_chance(random, 10);
  scenario.holder = draw_node(random, scenario.calm);
  scenario.user = draw_node(random, scenario.calm);
  const bool short_leases = !scenario.calm && draw_chance(random, 50);
  // About as long as a read takes, or some of them.
  const Duration short_ttl =
      milliseconds(draw_between(random, 2, draw_chance(random, 70) ? 8 : 120));
  scenario.user.options.lease_ttl = short_leases ? short_ttl : milliseconds(60'000);
  // Most users leave no margin at all: the holder has to protect itself.
  if (draw_chance(random, 70))
    scenario.user.options.lease_margin = -Duration(std::chrono::hours(1));
  // The holder's own is the time that it takes for a stripe of a put.
  scenario.holder.options.lease_ttl = milliseconds(60'000);
  scenario.directories = draw_chance(random, 50) ? draw_between(random, 1, 3) : 0;
  scenario.memory_bytes = kMiB * (scenario.calm ? 64 : draw_between(random, 4, 16));
  if (draw_chance(random, 50)) scenario.lease_timers_late = milliseconds(random.below(40));
  scenario.disk_turns = static_cast<std::uint32_t>(random.below(4));
  scenario.control_latency = microseconds(draw_between(random, 5, 1000));
  scenario.control_buffer_bytes = static_cast<std::uint32_t>(draw_between(random, 512, 16'384));
  scenario.writers = static_cast<std::uint32_t>(draw_between(random, 1, 3));
  scenario.readers = static_cast<std::uint32_t>(draw_between(random, 1, 3));
  scenario.puts = static_cast<std::uint32_t>(draw_between(random, 3, 8));
  scenario.reads = static_cast<std::uint32_t>(draw_between(random, 3, 10));
  scenario.pause = milliseconds(draw_between(random, 1, 10));
  scenario.aborts = static_cast<std::uint32_t>(random.below(40));
  scenario.deletes = static_cast<std::uint32_t>(random.below(30));
  if (!scenario.calm) draw_misfortunes(random, scenario);
  return scenario;
}

}  // namespace corail::sim
