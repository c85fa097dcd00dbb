#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "test/support/read_rig.h"
#include "test/support/repetitions.h"

namespace corail::test {
namespace {

namespace data = boost::unit_test::data;

constexpr auto kSeeds = static_cast<std::uint64_t>(repetitions(150));

Fault random_fault(Random& random) {
  // All but a device that hangs, which keeps its memory: the tests of the ladder have that.
  const auto kind =
      static_cast<FaultKind>(random.below(static_cast<std::uint64_t>(FaultKind::kStuckFence) + 1));
  Fault fault(kind, random.below(24));
  fault.packet = random.below(16);
  fault.delay = std::chrono::microseconds(random.below(20'000));
  fault.amount = kind == FaultKind::kSlow ? 1'000'000 + random.below(50'000'000)
                                          : 1 + random.below(256 * kKiB);
  return fault;
}

std::vector<RailPlan> random_rails(Random& random) {
  std::vector<RailPlan> rails(1 + random.below(4));
  for (RailPlan& rail : rails) {
    rail.options.reports_landing = random.below(2) == 0;
    rail.options.shared_fence = random.below(2) == 0;
    rail.options.link.bytes_per_second = 50'000'000 + random.below(200'000'000);
    rail.options.link.jitter = std::chrono::microseconds(random.below(300));
    rail.window.bytes = (1 + random.below(4)) * 256 * kKiB;
    rail.rebuilt = random.below(2) == 0;
    rail.rail_options.watchdog = std::chrono::milliseconds(20 + random.below(2000));
    const std::uint64_t faults = random.below(4);
    for (std::uint64_t i = 0; i < faults; ++i) rail.faults.add(random_fault(random));
  }
  return rails;
}

BOOST_AUTO_TEST_SUITE(random_faults)

/// Whatever goes wrong, and whoever gives up when: a read that was handed over is byte for byte
/// what the holder has, and of one that was not, no byte changes after it returned.
BOOST_AUTO_TEST_CASE(no_read_is_wrong_and_none_writes_late) {
  std::size_t committed = 0;
  std::size_t ended_otherwise = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SeededRandom random(seed);
    HeldShape shape;
    shape.blocks = static_cast<std::uint32_t>(4 + random.below(60));
    auto rails = random_rails(random);
    ReadRig rig(shape, std::move(rails), seed);
    std::vector<std::unique_ptr<RigRead>> reads;
    std::vector<VirtualWorld::Outcome<Result<void>>> outcomes;
    const std::uint64_t count = 1 + random.below(3);
    for (std::uint64_t i = 0; i < count; ++i) {
      ReadRequest request = rig.request();
      request.deadline = rig.world.now() + std::chrono::milliseconds(5 + random.below(500));
      request.retry_on_survivors = random.below(2) == 0;
      CancelToken token = request.cancel;
      reads.push_back(rig.make(std::move(request)));
      outcomes.push_back(rig.world.start(reads.back()->run()));
      rig.world.run_for(std::chrono::microseconds(random.below(10'000)));
      if (random.below(3) == 0) token.cancel();
    }
    rig.world.run_until_idle();
    for (std::size_t i = 0; i < reads.size(); ++i) {
      BOOST_TEST_CONTEXT("seed " << seed << ", read " << i) {
        BOOST_TEST_REQUIRE(outcomes[i]->has_value());
        BOOST_TEST(rig.complaint(*reads[i], **outcomes[i]).value_or("") == "");
        ++((**outcomes[i]).ok() ? committed : ended_otherwise);
      }
    }
    BOOST_TEST(rig.pool.quarantined_chunks() == 0U);
  }
  // Both kinds were really seen.
  BOOST_TEST(committed > kSeeds / 10);
  BOOST_TEST(ended_otherwise > kSeeds / 10);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
