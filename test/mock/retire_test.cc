#include "engine/rail/retire.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <utility>

#include "engine/rail/mock/mock_transport.h"
#include "test/support/held_blocks.h"
#include "test/support/virtual_world.h"

namespace corail::test {
namespace {

/// A connected rail whose device misbehaves as the script says.
struct Connected {
  explicit Connected(FaultScript script) : held(HeldShape{}, 1), holder(net, "a") {
    BOOST_TEST_REQUIRE(holder.open().ok());
    auto made = std::make_unique<MockTransport>(world.executor(), world.clock(), random, net,
                                                MockOptions(), std::move(script));
    transport = made.get();
    rail = std::make_unique<Rail>("mock0", world.executor(), world.clock(), std::move(made),
                                  RailWindow());
    const RailEndpoint endpoint = holder.admit_session(SessionId(1), ChannelToken{}, held);
    const TimePoint deadline = world.now() + std::chrono::seconds(1);
    BOOST_TEST_REQUIRE(world.run(rail->connect(endpoint, deadline)).ok());
  }

  VirtualWorld world;
  SeededRandom random{1};
  HeldBlocks held;
  MockNet net;
  MockHolder holder;
  MockTransport* transport = nullptr;
  std::unique_ptr<Rail> rail;
};

FaultScript stuck_close() { return FaultScript().add(Fault(FaultKind::kStuckClose, 0)); }

BOOST_AUTO_TEST_SUITE(retiring)

BOOST_AUTO_TEST_CASE(a_rail_that_closes_is_destroyed) {
  Connected it{FaultScript()};
  const std::size_t before = stuck_rails();
  BOOST_TEST(it.world.run(retire(std::move(it.rail))).ok());
  BOOST_TEST(stuck_rails() == before);
}

BOOST_AUTO_TEST_CASE(one_that_hangs_is_waited_for_so_long_and_then_kept) {
  Connected it(stuck_close());
  const std::size_t before = stuck_rails();
  const TimePoint begin = it.world.now();
  const auto retired = it.world.run(retire(std::move(it.rail)));
  BOOST_TEST_REQUIRE(!retired.ok());
  BOOST_TEST((retired.error().code() == Errc::kStuck));
  BOOST_TEST(retired.error().rail() == "mock0");
  BOOST_TEST((it.world.now() == begin + kRailCloseTime));
  BOOST_TEST(stuck_rails() == before + 1);
}

BOOST_AUTO_TEST_CASE(one_that_hung_can_be_closed_later) {
  Connected it(stuck_close());
  BOOST_TEST((it.world.run(it.rail->close()).error().code() == Errc::kStuck));
  it.transport->unstick();
  BOOST_TEST(it.world.run(it.rail->close()).ok());
  it.rail.reset();
  it.world.settle();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
