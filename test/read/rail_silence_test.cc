#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <utility>
#include <vector>

#include "test/read/lossy_rails.h"

// Rails that fall silent, and those that are only slow.

namespace corail::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(rail_silence)

BOOST_DATA_TEST_CASE(the_watchdog_ends_what_never_completes,
                     data::make({false, true}) * data::make({false, true}), shared_fence,
                     stuck_fence) {
  FaultScript faults = script(Fault(FaultKind::kStall, 2));
  if (stuck_fence) faults.add(Fault(FaultKind::kStuckFence, 0));
  auto plans = rails(2, std::move(faults), 125'000'000);
  for (RailPlan& plan : plans) plan.options.shared_fence = shared_fence;
  ReadRig rig(large_shape(), std::move(plans), 1);
  const TimePoint begin = rig.world.now();
  const auto read = rig.make(rig.request());
  const auto result = rig.finish(*read);
  check_failed(result, Errc::kRailFailed);
  BOOST_TEST(result.error().rail() == "mock1");
  BOOST_TEST((read->ended() - begin >= kWatchdogTime));
  // The ladder: half a fence deadline of waiting, the fence, and closing at once.
  BOOST_TEST((read->ended() - begin <= kWatchdogTime + milliseconds(1100)));
  BOOST_TEST(rig.rails.rail(1).health().faults() == 1U);
  BOOST_TEST(rig.rails.rail(0).health().faults() == 0U);
  BOOST_TEST(rig.pool.quarantined_chunks() == 0U);
  BOOST_TEST(rig.complaint(*read, result).value_or("") == "");
  BOOST_TEST(rig.rails.generations(1) == 2U);
  const auto next = rig.make(rig.request());
  const auto committed = rig.finish(*next);
  BOOST_TEST(committed.ok(), text_of(committed));
  BOOST_TEST(next->report().rails[1].bytes > 0U);
}

BOOST_AUTO_TEST_CASE(the_watchdog_leaves_a_slow_rail_alone) {
  // 14 s for the read, 3.5 s for a window.
  ReadRig rig(large_shape(), rails(1, FaultScript(), 300'000), 1);
  const auto read = rig.make(rig.request());
  const auto result = rig.finish(*read);
  BOOST_TEST(result.ok(), text_of(result));
  BOOST_TEST(rig.rails.rail(0).health().faults() == 0U);
}

/// 107 s for the read, 27 s for the window that is configured: neither its age nor that of any
/// slice says that a rail is dead.
BOOST_AUTO_TEST_CASE(a_slow_rail_with_the_default_window_brings_a_long_read) {
  HeldShape shape;
  shape.blocks = 512;
  shape.lane_bytes = 256 * kKiB;  // 512 MiB
  auto plans = rails(1, FaultScript(), 5'000'000);
  plans[0].options.link.packet_bytes = 64 * kKiB;
  plans[0].window.bytes = 128 * kMiB;
  plans[0].window.max_slice_bytes = 32 * kMiB;
  ReadRig rig(shape, std::move(plans), 1);
  rig.limits.max_read_bytes = 32 * kMiB;
  rig.limits.max_chunk_bytes = 64 * kMiB;
  ReadRequest request = rig.request();
  request.deadline = rig.world.now() + seconds(200);
  const auto read = rig.make(std::move(request));
  const auto result = rig.finish(*read);
  BOOST_TEST_REQUIRE(result.ok(), text_of(result));
  BOOST_TEST(read->report().read_bytes == 512 * kMiB);
  BOOST_TEST(rig.rails.rail(0).health().faults() == 0U);
  BOOST_TEST(rig.rails.generations(0) == 1U);
  BOOST_TEST(rig.complaint(*read, result).value_or("") == "");
}

/// What is in flight lands within a quarter of the fence deadline, so that nobody has to fence.
BOOST_AUTO_TEST_CASE(a_cancel_on_a_slow_rail_waits_for_a_small_window) {
  HeldShape shape;
  shape.blocks = 128;
  shape.lane_bytes = 256 * kKiB;  // 128 MiB
  auto plans = rails(1, FaultScript(), 20'000'000);
  plans[0].options.shared_fence = true;
  plans[0].window.bytes = 128 * kMiB;
  plans[0].window.max_slice_bytes = 32 * kMiB;
  plans[0].rail_options.fence_deadline = milliseconds(500);
  ReadRig rig(shape, std::move(plans), 1);
  rig.limits.max_read_bytes = 32 * kMiB;
  rig.limits.max_chunk_bytes = 64 * kMiB;
  ReadRequest request = rig.request();
  CancelToken token = request.cancel;
  const auto read = rig.make(std::move(request));
  const auto outcome = rig.world.start(read->run());
  rig.world.run_for(seconds(3));
  const TimePoint cancelled = rig.world.now();
  token.cancel();
  rig.world.run_until_idle();
  BOOST_TEST_REQUIRE(outcome->has_value());
  BOOST_TEST(((**outcome).error().code() == Errc::kCancelled));
  BOOST_TEST((read->ended() - cancelled <= milliseconds(135)));
  BOOST_TEST(rig.rails.transport(0).counters().fences == 0U);
  BOOST_TEST(rig.complaint(*read, **outcome).value_or("") == "");
}

/// The one request that never completes is not forgotten because others do.
BOOST_AUTO_TEST_CASE(the_watchdog_finds_a_slice_that_all_others_overtake) {
  ReadRig rig(large_shape(), rails(1, script(Fault(FaultKind::kStall, 1)), 125'000'000), 1);
  ReadRequest request = rig.request(BlockRange{0, 16});
  request.deadline = rig.world.now() + seconds(60);
  const TimePoint begin = rig.world.now();
  const auto victim = rig.make(BlockRange{0, 16}, std::move(request));
  const auto ended = rig.world.start(victim->run());
  std::size_t committed = 0;
  while (!ended->has_value() && rig.world.now() < begin + seconds(30)) {
    const auto other = rig.make(rig.request());
    const auto result = rig.finish(*other);
    if (result.ok()) ++committed;
    rig.world.run_for(milliseconds(100));
  }
  BOOST_TEST(committed >= 50U);
  BOOST_TEST_REQUIRE(ended->has_value());
  check_failed(**ended, Errc::kRailFailed);
  BOOST_TEST((victim->ended() - begin >= kWatchdogTime));
  BOOST_TEST((victim->ended() - begin <= kWatchdogTime + milliseconds(1100)));
  BOOST_TEST(rig.rails.rail(0).health().faults() == 1U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
