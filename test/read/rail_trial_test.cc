#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "test/read/lossy_rails.h"

// Rails whose breaker is half-open, and the reads that are their probes.

namespace corail::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(rail_trial)

/// Reads that do not retry, some at a time: once the breaker has opened the rail is on trial
/// whenever it is back, and its probes fail again and again before the path heals.
BOOST_DATA_TEST_CASE(a_rail_on_trial_fails_no_read_that_others_can_bring, data::make({1, 3}),
                     at_a_time) {
  HeldShape shape;
  shape.blocks = 16;
  auto plans = rails(3, cut_at(0), 125'000'000);
  plans[1].later = std::vector<FaultScript>(7, cut_at(0));
  ReadRig rig(shape, std::move(plans), 1);
  const RailHealth& health = rig.rails.rail(1).health();
  std::size_t failed = 0;
  std::uint64_t retried = 0;
  std::uint64_t healed = 0;  // bytes
  const TimePoint end = rig.world.now() + seconds(100);
  while (rig.world.now() < end) {
    const bool opened = health.faults() >= HealthOptions().faults_to_open;
    std::vector<std::unique_ptr<RigRead>> reads;
    std::vector<VirtualWorld::Outcome<Result<void>>> outcomes;
    for (int i = 0; i < at_a_time; ++i) {
      reads.push_back(rig.make(rig.request()));
      outcomes.push_back(rig.world.start(reads.back()->run()));
    }
    rig.world.run_for(milliseconds(500));
    for (std::size_t i = 0; i < reads.size(); ++i) {
      BOOST_TEST_REQUIRE(outcomes[i]->has_value());
      const Result<void>& result = **outcomes[i];
      if (opened && !result.ok()) ++failed;
      if (result.ok()) BOOST_TEST(reads[i]->difference_to(rig.held).value_or("") == "");
      retried += reads[i]->report().retried_slices;
      healed = reads[i]->report().rails[1].bytes;
    }
  }
  BOOST_TEST(failed == 0U);
  // Each probe was a slice of some read, which another rail brought.
  BOOST_TEST(health.faults() == 8U);
  BOOST_TEST(retried >= 5U);
  BOOST_TEST((health.breaker() == BreakerState::kClosed));
  BOOST_TEST(healed > 0U);
}

BOOST_AUTO_TEST_CASE(without_a_closed_breaker_the_probe_is_all_there_is) {
  auto plans = rails(1, cut_at(0), 125'000'000);
  plans[0].later = std::vector<FaultScript>(3, cut_at(0));
  ReadRig rig(large_shape(), std::move(plans), 1);
  for (int i = 0; i < 4; ++i) {
    const auto read = rig.make(rig.request());
    check_failed(rig.finish(*read), Errc::kConnectionLost);
    rig.world.run_for(seconds(i < 2 ? 1 : 5));
  }
  BOOST_TEST(rig.rails.rail(0).health().faults() == 4U);
  const auto read = rig.make(rig.request());
  const auto result = rig.finish(*read);
  BOOST_TEST(result.ok(), text_of(result));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
