#include "test/sim/seed.h"

#include <algorithm>
#include <utility>

#include "engine/base/check.h"

namespace corail::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

/// How often the dear checks are made, in steps of the world.
constexpr std::uint64_t kCheckEvery = 64;
constexpr std::uint64_t kSweepEvery = 8192;
/// A seed that takes more steps than that goes round in circles (I8).
constexpr std::uint64_t kMostSteps = 5'000'000;
/// How many fence deadlines a fetch may last beyond its own: telling the owner and fencing, closing
/// the rail, giving the lease back; and what the last messages take.
constexpr int kFencesToEnd = 3;
constexpr Duration kLastMessages = milliseconds(5);
/// By then everything that was under way when the nodes closed has arrived or been dropped.
constexpr Duration kAftermath = seconds(5);

Duration grace_of(const Scenario& scenario) {
  Duration fence{};
  for (const NodePlan& plan : scenario.nodes) fence = std::max(fence, plan.options.fence_deadline);
  return fence * kFencesToEnd + kLastMessages;
}

}  // namespace

Seed::Seed(std::uint64_t seed, Plant plant, bool trace)
    : random_(mix64(seed)),
      turns_(mix64(seed ^ 0x7EA5)),
      journal_(world_.clock(), trace),
      scenario_(draw_scenario(random_)),
      model_(journal_, world_.clock(), scenario_.layout, kNodes) {
  world_.shuffle(turns_);
  model_.set_grace(grace_of(scenario_));
  const SimSetup setup{world_, random_, net_, model_, plant, scenario_};
  for (std::size_t i = 0; i < kNodes; ++i) nodes_.push_back(std::make_unique<SimNode>(setup, i));
  for (std::size_t i = 0; i < kNodes; ++i) nodes_[i]->meet(*nodes_[(i + 1) % kNodes]);
  driver_ = std::make_unique<Driver>(setup, nodes_);
}

bool Seed::step() {
  if (!world_.step()) return false;
  ++steps_;
  check_often();
  if (steps_ % kCheckEvery == 0) check_sometimes();
  return true;
}

void Seed::check_often() {
  for (const auto& node : nodes_) {
    if (node->pool().mapped_bytes() <= node->plan().pool.capacity_bytes) continue;
    journal_.violate(
        8, fmt::format("node {} has mapped {} bytes for results, its capacity is {}", node->index(),
                       node->pool().mapped_bytes(), node->plan().pool.capacity_bytes));
  }
}

void Seed::check_sometimes() {
  model_.check_deadlines();
  for (const auto& node : nodes_) {
    const std::uint64_t leases = node->store().stats().leases;
    const std::uint64_t most = node->sessions() * node->plan().store.max_leases_per_requester;
    if (leases > most) {
      journal_.violate(8, fmt::format("node {} has given {} leases to {} sessions", node->index(),
                                      leases, node->sessions()));
    }
  }
  if (steps_ % kSweepEvery != 0) return;
  for (std::size_t node = 0; node < kNodes; ++node) model_.destinations(node).check();
  driver_->check_views();
}

bool Seed::run_until(bool (*reached)(const Seed&), const char* what) {
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

SeedResult Seed::run() {
  for (const auto& node : nodes_) CORAIL_CHECK(world_.run(node->start()), "mock doors open");
  driver_->start();
  if (!run_until([](const Seed& seed) { return seed.driver_->done(); }, "end the fetches")) {
    return result();
  }
  closed_ = world_.start(driver_->shut_down());
  if (!run_until([](const Seed& seed) { return seed.closed_->has_value(); }, "close the nodes")) {
    return result();
  }
  check_end();
  return result();
}

void Seed::check_end() {
  world_.run_until(world_.now() + kAftermath);
  TimePoint next;
  if (world_.clock().next_due(next)) journal_.violate(0, "a timer is left");
  for (std::size_t index = 0; index < kNodes; ++index) {
    SimNode& node = *nodes_[index];
    model_.destinations(index).check();
    for (BlockNumber block = 0; block < kBlocks; ++block) {
      node.store().erase(name_space_of(block), hash_of(block));
    }
    const StoreStats stats = node.store().stats();
    const auto expect = [&](std::uint64_t is, std::uint64_t should, const char* what) {
      if (is == should) return;
      journal_.violate(
          0, fmt::format("node {} has {} {} at the end, {} are due", index, is, what, should));
    };
    expect(stats.leases, 0, "leases");
    expect(stats.free_bytes, stats.capacity_bytes, "free bytes in its store");
    expect(node.sessions(), 0, "sessions");
    expect(node.pool().outstanding_bytes(), node.pool().quarantined_bytes(),
           "bytes of results in use");
  }
  for (const FetchRecord& fetch : model_.fetches()) {
    if (fetch.in_flight == 0 && fetch.admitted.empty()) continue;
    journal_.violate(0,
                     fmt::format("{} slices of fetch {} are left", fetch.in_flight, fetch.number));
  }
}

SeedResult Seed::result() const {
  SeedResult result;
  result.violation = journal_.violation();
  result.digest = journal_.digest();
  result.steps = steps_;
  result.counts = driver_->counts();
  return result;
}

std::unique_ptr<SeedRun> make_block_seed(std::uint64_t seed, Plant plant, bool trace) {
  return std::make_unique<Seed>(seed, plant, trace);
}

}  // namespace corail::sim
