#include "test/sim/objects/seed.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>

namespace corail::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// How often the dear checks are made, in steps of the world.
constexpr std::uint64_t kCheckEvery = 64;
constexpr std::uint64_t kSweepEvery = 16'384;
/// A seed that takes more steps than that goes round in circles (I8).
constexpr std::uint64_t kMostSteps = 5'000'000;
/// How many fence deadlines a call may last beyond its own: telling the owner and fencing, closing
/// the rail, giving the lease back; and what the last messages take.
constexpr int kFencesToEnd = 3;
constexpr Duration kLastMessages = milliseconds(5);
/// By then everything that was under way when the nodes closed has arrived or been dropped.
constexpr Duration kAftermath = seconds(5);

Duration read_grace_of(const ObjectScenario& scenario) {
  const Duration fence =
      std::max(scenario.holder.options.fence_deadline, scenario.user.options.fence_deadline);
  return fence * kFencesToEnd + kLastMessages;
}

/// What no pin keeps is used again soon only where memory is short and no lease keeps it either.
ObjectScenario draw_scenario(Random& random, Plant plant) {
  ObjectScenario scenario = draw_object_scenario(random);
  if (plant != Plant::kNoPin) return scenario;
  scenario.calm = false;
  scenario.directories = 0;
  scenario.memory_bytes = 3 * kMiB;
  scenario.lease_timers_late = {};
  scenario.user.options.lease_ttl = milliseconds(3);
  scenario.user.options.lease_margin = -Duration(std::chrono::hours(1));
  return scenario;
}

}  // namespace

ObjectSeed::ObjectSeed(std::uint64_t seed, Plant plant, bool trace)
    : random_(mix64(seed ^ 0x0B1EC7)),
      turns_(mix64(seed ^ 0x7EA5)),
      journal_(world_.clock(), trace),
      scenario_(draw_scenario(random_, plant)),
      model_(journal_, world_.clock(), read_grace_of(scenario_),
             read_grace_of(scenario_) + scenario_.user.options.call_deadline),
      disk_(mix64(seed ^ 0xD15C)) {
  world_.shuffle(turns_);
  const ObjectSetup setup{world_, random_, net_, model_, disk_, plant, scenario_};
  driver_ = std::make_unique<ObjectDriver>(setup);
}

bool ObjectSeed::step() {
  if (!world_.step()) return false;
  ++steps_;
  driver_->observe();
  if (steps_ % kCheckEvery == 0) model_.check_deadlines();
  if (steps_ % kSweepEvery != 0) return true;
  for (const std::size_t node : {kHolder, kUser}) model_.destinations(node).check();
  driver_->check_memory();
  return true;
}

bool ObjectSeed::run_until(bool (*reached)(const ObjectSeed&), const char* what) {
  while (!reached(*this)) {
    if (steps_ > kMostSteps) {
      journal_.violate(8, fmt::format("{} steps are not enough to {}", kMostSteps, what));
    } else if (!step()) {
      journal_.violate(8, fmt::format("nothing is left to happen, and it did not {}", what));
    }
    if (journal_.violation()) return false;
  }
  return true;
}

SeedResult ObjectSeed::run() {
  started_ = world_.start(driver_->start());
  const bool ran =
      run_until([](const ObjectSeed& seed) { return seed.started_->has_value(); },
                "start the nodes") &&
      run_until([](const ObjectSeed& seed) { return seed.driver_->done(); }, "end the calls");
  if (!ran) return result();
  closed_ = world_.start(driver_->shut_down());
  if (!run_until([](const ObjectSeed& seed) { return seed.closed_->has_value(); },
                 "close the nodes")) {
    return result();
  }
  check_end();
  return result();
}

void ObjectSeed::check_end() {
  world_.run_until(world_.now() + kAftermath);
  TimePoint next;
  if (world_.clock().next_due(next)) journal_.violate(0, "a timer is left");
  driver_->check_memory();
  model_.check_end();
}

SeedResult ObjectSeed::result() const {
  SeedResult result;
  result.violation = journal_.violation();
  result.digest = journal_.digest();
  result.steps = steps_;
  result.counts = driver_->counts();
  return result;
}

std::unique_ptr<SeedRun> make_object_seed(std::uint64_t seed, Plant plant, bool trace) {
  return std::make_unique<ObjectSeed>(seed, plant, trace);
}

}  // namespace corail::sim
