#include <boost/test/unit_test.hpp>

#include "test/support/read_rig.h"

// What the guards are good for: the same fault with the guard and without it. That the second half
// of each pair sees the damage shows that the first half can fail.

namespace corail::test {
namespace {

using std::chrono::milliseconds;

HeldShape large_shape() {
  HeldShape shape;
  shape.blocks = 64;
  return shape;
}

/// Bytes that land in the memory's next owner's data when a read is cancelled in the middle.
std::uint64_t damage_after_cancel(FaultScript faults) {
  std::vector<RailPlan> rails(1);
  rails[0].faults = std::move(faults);
  // Else the read would wait, and be quiescent before it had to fence.
  rails[0].options.shared_fence = false;
  ReadRig rig(large_shape(), std::move(rails), 3);
  ReadRequest request = rig.request();
  CancelToken token = request.cancel;
  const auto read = rig.make(std::move(request));
  const auto outcome = rig.world.start(read->run());
  rig.world.run_for(milliseconds(8));
  token.cancel();
  rig.world.run_until_idle();
  BOOST_TEST_REQUIRE(outcome->has_value());
  BOOST_TEST(!(**outcome).ok());
  return read->late_bytes();
}

BOOST_AUTO_TEST_SUITE(hazard)

BOOST_AUTO_TEST_CASE(one_packet_after_the_fence) {
  FaultScript faults;
  faults.add(Fault(FaultKind::kPacketAfterFence, 0).by(milliseconds(1)));
  BOOST_TEST(damage_after_cancel(faults) == 0U);
  faults.weak_fence = true;
  BOOST_TEST(damage_after_cancel(faults) > 0U);
}

BOOST_AUTO_TEST_CASE(a_completion_that_overtakes_its_bytes) {
  const auto damage = [](bool trusted) {
    std::vector<RailPlan> rails(1);
    rails[0].faults.add(Fault(FaultKind::kEarlyCompletion, 15).by(milliseconds(50)));
    rails[0].faults.trust_completions = trusted;
    // Without reports of what landed nothing but the transport stands between.
    rails[0].options.reports_landing = false;
    ReadRig rig(large_shape(), std::move(rails), 3);
    const auto read = rig.make(rig.request());
    const auto result = rig.finish(*read);
    BOOST_TEST(result.ok() == !trusted);
    rig.world.run_until_idle();
    return read->late_bytes();
  };
  BOOST_TEST(damage(false) == 0U);
  BOOST_TEST(damage(true) > 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
