#include <boost/test/unit_test.hpp>
#include <vector>

#include "test/mock/mock_wire.h"

// How a mock transport is lost, and who is told.

namespace corail::test {
namespace {

BOOST_AUTO_TEST_SUITE(mock_loss)

/// As with a queue pair whose path has gone: flushes are all that the slices hear of it.
BOOST_AUTO_TEST_CASE(a_cut_flushes_every_slice_and_the_rail_is_told) {
  Wire wire(FaultScript().add(Fault(FaultKind::kCut, 1).at_packet(1)));
  std::vector<Error> lost;
  std::size_t ended = 0;
  wire.transport.when_lost([&](const Error& why) {
    lost.push_back(why);
    ended = wire.sink.outcomes.size();
    BOOST_TEST(!wire.transport.usable());
  });
  for (std::uint64_t slice = 0; slice < 4; ++slice) wire.post(2 * slice, 2, wire.sink);
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[0] == Errc{}));
  for (const std::uint64_t tag : {2, 4, 6}) BOOST_TEST((wire.sink.outcomes[tag] == Errc::kFlushed));
  BOOST_TEST(lost.size() == 1U);
  // The outcomes came first.
  BOOST_TEST(ended == 4U);
  BOOST_TEST(wire.sink.orderly);
  wire.world.run(close(&wire.transport));
  BOOST_TEST(lost.size() == 1U);
}

BOOST_AUTO_TEST_CASE(a_holder_that_hangs_up_is_noticed_without_a_slice) {
  Wire wire;
  std::vector<Error> lost;
  wire.transport.when_lost([&](const Error& why) { lost.push_back(why); });
  wire.holder.shut();
  // On its own executor, not on the holder's thread.
  BOOST_TEST(lost.empty());
  wire.world.settle();
  BOOST_TEST_REQUIRE(lost.size() == 1U);
  BOOST_TEST((lost[0].code() == Errc::kConnectionLost));
  BOOST_TEST(!wire.transport.usable());
}

BOOST_AUTO_TEST_CASE(closing_is_no_loss) {
  Wire wire;
  std::size_t lost = 0;
  wire.transport.when_lost([&](const Error&) { ++lost; });
  wire.post(0, 4, wire.sink);
  wire.world.run(close(&wire.transport));
  wire.holder.shut();
  wire.world.settle();
  BOOST_TEST(lost == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
