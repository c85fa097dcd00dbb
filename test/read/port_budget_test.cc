#include "engine/rail/port_budget.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "test/support/read_rig.h"

// Reads from several peers through one local port: each rail stands for a peer of its own.

namespace corail::test {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kSlice = 256 * kKiB;

HeldShape shape_of(std::uint32_t blocks) {
  HeldShape shape;
  shape.blocks = blocks;
  return shape;
}

std::vector<RailPlan> rails_of_one_port(std::size_t count,
                                        const std::shared_ptr<PortBudget>& budget) {
  std::vector<RailPlan> rails(count);
  for (RailPlan& rail : rails) {
    rail.rail_options.budget = budget;
    rail.rebuilt = true;  // a rail for once has no options
    rail.window.bytes = 4 * kSlice;
    rail.window.max_slice_bytes = kSlice;
  }
  return rails;
}

/// Reads that run at the same time, each from the peer behind one rail.
struct Reads {
  Reads(ReadRig& rig, std::size_t count) : world(rig.world) {
    for (std::size_t i = 0; i < count; ++i) {
      ReadRequest request = rig.request();
      request.rails = {rig.rails.rails()[i]};
      tokens.push_back(request.cancel);
      reads.push_back(rig.make(std::move(request)));
      outcomes.push_back(world.start(reads.back()->run()));
    }
  }
  bool running() const {
    for (const auto& outcome : outcomes) {
      if (!outcome->has_value()) return true;
    }
    return false;
  }

  VirtualWorld& world;
  std::vector<CancelToken> tokens;
  std::vector<std::unique_ptr<RigRead>> reads;
  std::vector<VirtualWorld::Outcome<Result<void>>> outcomes;
};

BOOST_AUTO_TEST_SUITE(port_budget)

BOOST_AUTO_TEST_CASE(what_all_rails_of_a_port_have_posted_stays_within_it) {
  const auto budget = std::make_shared<PortBudget>(5 * kSlice / 2);
  ReadRig rig(shape_of(64), rails_of_one_port(3, budget), 1);
  Reads running(rig, 3);
  std::uint64_t most = 0;
  std::uint64_t crowded = 0;
  while (running.running() && rig.world.step()) {
    most = std::max(most, budget->in_use());
    crowded += budget->crowded() ? 1 : 0;
  }
  BOOST_TEST(most <= budget->bytes());
  BOOST_TEST(most >= 2 * kSlice);
  BOOST_TEST(crowded > 0U);
  for (std::size_t i = 0; i < 3; ++i) {
    BOOST_TEST((**running.outcomes[i]).ok(), text_of(**running.outcomes[i]));
    BOOST_TEST(rig.complaint(*running.reads[i], **running.outcomes[i]).value_or("") == "");
  }
  // None was kept waiting for another one to end.
  BOOST_TEST((running.reads[2]->ended() - running.reads[0]->ended() < milliseconds(10)));
  BOOST_TEST(budget->in_use() == 0U);
}

BOOST_AUTO_TEST_CASE(one_that_is_narrower_than_a_slice_cuts_smaller_ones) {
  const auto budget = std::make_shared<PortBudget>(64 * kKiB);
  ReadRig rig(shape_of(16), rails_of_one_port(2, budget), 1);
  Reads running(rig, 2);
  while (running.running() && rig.world.step()) BOOST_TEST_REQUIRE(budget->in_use() <= 64 * kKiB);
  for (const auto& outcome : running.outcomes) BOOST_TEST((**outcome).ok(), text_of(**outcome));
}

BOOST_AUTO_TEST_CASE(a_rail_that_has_nothing_to_post_does_not_crowd_its_port) {
  HeldShape shape = shape_of(1);
  shape.lanes = 1;
  shape.regions = 1;
  const std::uint64_t read_bytes = shape.lane_bytes;
  const auto budget = std::make_shared<PortBudget>(read_bytes);
  ReadRig rig(shape, rails_of_one_port(2, budget), 1);
  const auto read = rig.make(rig.request());
  const auto outcome = rig.world.start(read->run());
  std::uint64_t most = 0;
  std::uint64_t crowded = 0;
  while (!outcome->has_value() && rig.world.step()) {
    most = std::max(most, budget->in_use());
    crowded += budget->crowded() ? 1 : 0;
  }
  BOOST_TEST(most == read_bytes);
  BOOST_TEST(crowded == 0U);
  BOOST_TEST((**outcome).ok(), text_of(**outcome));
}

BOOST_AUTO_TEST_CASE(whatever_becomes_of_reads_all_of_it_comes_back) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    SeededRandom random(seed);
    const auto budget = std::make_shared<PortBudget>(3 * kSlice);
    auto plans = rails_of_one_port(3, budget);
    const auto kind =
        static_cast<FaultKind>(random.below(static_cast<std::uint64_t>(FaultKind::kStuckFence)));
    plans[0].faults.add(Fault(kind, random.below(6)).by(milliseconds(3)).of(5));
    ReadRig rig(shape_of(48), std::move(plans), seed);
    Reads running(rig, 3);
    rig.world.run_for(std::chrono::microseconds(random.below(15'000)));
    running.tokens[1].cancel();
    while (running.running() && rig.world.step()) {
      BOOST_TEST_REQUIRE(budget->in_use() <= budget->bytes());
    }
    BOOST_TEST_CONTEXT("seed " << seed) {
      for (std::size_t i = 0; i < 3; ++i) {
        BOOST_TEST_REQUIRE(running.outcomes[i]->has_value());
        BOOST_TEST(rig.complaint(*running.reads[i], **running.outcomes[i]).value_or("") == "");
      }
      // The one that nothing was done to.
      BOOST_TEST((**running.outcomes[2]).ok(), text_of(**running.outcomes[2]));
      BOOST_TEST(budget->in_use() == 0U);
      BOOST_TEST(!budget->crowded());
    }
  }
}

BOOST_AUTO_TEST_CASE(memory_that_a_device_keeps_for_ever_does_not_narrow_the_port) {
  const auto budget = std::make_shared<PortBudget>(2 * kSlice);
  auto plans = rails_of_one_port(2, budget);
  plans[0].faults.add(Fault(FaultKind::kStall, 0));
  plans[0].faults.add(Fault(FaultKind::kStuckFence, 0));
  plans[0].faults.add(Fault(FaultKind::kStuckClose, 0));
  plans[0].options.shared_fence = false;
  ReadRig rig(shape_of(32), std::move(plans), 1);
  Reads running(rig, 2);
  rig.world.run_for(milliseconds(50));
  running.tokens[0].cancel();
  rig.world.run_for(std::chrono::seconds(20));
  BOOST_TEST_REQUIRE(!running.running());
  BOOST_TEST_REQUIRE(!(**running.outcomes[0]).ok());
  BOOST_TEST(((**running.outcomes[0]).error().code() == Errc::kStuck),
             text_of(**running.outcomes[0]));
  BOOST_TEST((**running.outcomes[1]).ok(), text_of(**running.outcomes[1]));
  BOOST_TEST(budget->in_use() == 0U);
  rig.rails.transport(0).unstick();
  rig.world.run_for(std::chrono::seconds(1));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
