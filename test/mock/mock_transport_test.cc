#include "engine/rail/mock/mock_transport.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <type_traits>

#include "test/mock/mock_wire.h"

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

BOOST_AUTO_TEST_SUITE(mock_transport)

BOOST_AUTO_TEST_CASE(bytes_arrive_when_the_model_says) {
  Wire wire;
  wire.post(0, 4, wire.sink);
  wire.post(4, 2, wire.sink);
  BOOST_TEST(wire.sink.outcomes.empty());
  wire.world.run_until(wire.begin + microseconds(50) + milliseconds(3));
  BOOST_TEST(wire.sink.landed[0] == 3U * 65'536);
  BOOST_TEST(wire.arrived(0, 3));
  BOOST_TEST(!wire.arrived(3, 1));
  BOOST_TEST(wire.sink.outcomes.empty());
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[0] == Errc{}));
  BOOST_TEST((wire.sink.ended[0] == wire.begin + microseconds(50) + milliseconds(4)));
  BOOST_TEST((wire.sink.ended[4] == wire.begin + microseconds(50) + milliseconds(6)));
  BOOST_TEST(wire.arrived(0, 6));
  BOOST_TEST(wire.sink.orderly);
  BOOST_TEST(wire.held.pins() == 0U);
}

BOOST_AUTO_TEST_CASE(a_fence_ends_all_its_slices_and_nothing_lands_afterwards) {
  Wire wire;
  wire.post(0, 8, wire.sink);
  wire.world.run_for(microseconds(2500));
  BOOST_TEST(wire.fence(wire.sink).ok());
  BOOST_TEST((wire.sink.outcomes[0] == Errc::kFlushed));
  BOOST_TEST(wire.held.pins() == 0U);
  std::fill(wire.memory.begin(), wire.memory.end(), std::byte{0});
  wire.world.run_until_idle();
  BOOST_TEST(std::all_of(wire.memory.begin(), wire.memory.end(),
                         [](std::byte byte) { return byte == std::byte{0}; }));
  // The rail is usable right away.
  wire.post(8, 1, wire.sink);
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[8] == Errc{}));
}

BOOST_AUTO_TEST_CASE(whose_slices_a_fence_flushes) {
  for (const bool shared : {false, true}) {
    MockOptions options = Wire::small_options();
    options.shared_fence = shared;
    Wire wire(FaultScript(), options);
    Sink other(wire.world);
    wire.post(0, 2, wire.sink);
    wire.post(2, 2, other);
    BOOST_TEST(wire.fence(wire.sink).ok());
    BOOST_TEST((wire.sink.outcomes[0] == Errc::kFlushed));
    wire.world.run_until_idle();
    BOOST_TEST((other.outcomes[2] == (shared ? Errc::kFlushed : Errc{})));
  }
}

/// A reference into the temporary would dangle once it is bound.
BOOST_AUTO_TEST_CASE(faults_are_described_by_value) {
  static_assert(std::is_same_v<decltype(Fault(FaultKind::kLate, 0).at_packet(1)), Fault>);
  static_assert(std::is_same_v<decltype(Fault(FaultKind::kLate, 0).by(Duration(1))), Fault>);
  static_assert(std::is_same_v<decltype(Fault(FaultKind::kLate, 0).of(1)), Fault>);
  const Fault& bound = Fault(FaultKind::kLate, 4).at_packet(1).by(Duration(2)).of(3);
  BOOST_TEST(bound.slice == 4U);
  BOOST_TEST(bound.packet == 1U);
  BOOST_TEST((bound.delay == Duration(2)));
  BOOST_TEST(bound.amount == 3U);
}

BOOST_AUTO_TEST_CASE(a_fence_of_nothing_is_free) {
  Wire quiet;
  const TimePoint before = quiet.world.now();
  BOOST_TEST(quiet.fence(quiet.sink).ok());
  BOOST_TEST((quiet.world.now() == before));
}

BOOST_AUTO_TEST_CASE(a_fence_that_is_not_answered_says_so_at_its_deadline) {
  Wire wire(FaultScript().add(Fault(FaultKind::kStuckFence, 0)));
  wire.post(0, 8, wire.sink);
  const TimePoint deadline = wire.world.now() + milliseconds(3);
  const auto fenced = wire.world.run(wire.transport.fence(wire.sink, deadline));
  BOOST_TEST_REQUIRE(!fenced.ok());
  BOOST_TEST((fenced.error().code() == Errc::kStuck));
  BOOST_TEST((wire.world.now() == deadline));
  BOOST_TEST(wire.sink.outcomes.empty());
  wire.world.run(close(&wire.transport));
  BOOST_TEST((wire.sink.outcomes[0] == Errc::kFlushed));
}

BOOST_AUTO_TEST_CASE(closing_ends_everything_and_so_does_posting_afterwards) {
  Wire wire;
  wire.post(0, 4, wire.sink);
  wire.world.run_for(milliseconds(2));
  wire.world.run(close(&wire.transport));
  BOOST_TEST((wire.sink.outcomes[0] == Errc::kFlushed));
  BOOST_TEST(!wire.transport.usable());
  BOOST_TEST(wire.held.pins() == 0U);
  wire.post(4, 1, wire.sink);
  BOOST_TEST(!wire.sink.outcomes.contains(4));  // never from within post
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[4] == Errc::kConnectionLost));
  wire.world.run(close(&wire.transport));
}

BOOST_AUTO_TEST_CASE(the_gate_decides_when_the_request_arrives) {
  Wire wire;
  wire.post(0, 2, wire.sink);
  wire.world.run_for(microseconds(30));
  wire.held.expire();
  wire.post(2, 2, wire.sink);
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[0] == Errc{}));
  BOOST_TEST((wire.sink.outcomes[2] == Errc::kLeaseExpired));
  BOOST_TEST(wire.transport.usable());
}

BOOST_AUTO_TEST_CASE(a_refusal_flushes_the_others_and_kills_the_channel) {
  Wire wire(FaultScript().add(Fault(FaultKind::kRefuse, 1)));
  wire.post(0, 8, wire.sink);
  wire.world.run_for(milliseconds(1));
  wire.post(8, 1, wire.sink);
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[0] == Errc::kFlushed));
  BOOST_TEST((wire.sink.outcomes[8] == Errc::kRefused));
  BOOST_TEST(!wire.transport.usable());
}

BOOST_AUTO_TEST_CASE(a_stalled_slice_holds_up_nobody_else) {
  Wire wire(FaultScript().add(Fault(FaultKind::kStall, 0).at_packet(2)));
  wire.post(0, 4, wire.sink);
  wire.post(4, 2, wire.sink);
  wire.world.run_until_idle();
  BOOST_TEST(!wire.sink.outcomes.contains(0));
  BOOST_TEST(wire.sink.landed[0] == 2U * 65'536);
  BOOST_TEST((wire.sink.outcomes[4] == Errc{}));
}

BOOST_AUTO_TEST_CASE(overtaking_packets_are_reported_in_order) {
  Wire wire(FaultScript()
                .add(Fault(FaultKind::kReorder, 0).at_packet(1).by(microseconds(2500)))
                .add(Fault(FaultKind::kDuplicate, 0).at_packet(2).by(microseconds(700))));
  wire.post(0, 6, wire.sink);
  wire.world.run_until(wire.begin + microseconds(50) + milliseconds(4));
  BOOST_TEST(wire.sink.landed[0] == 65'536U);
  BOOST_TEST(wire.arrived(2, 2));
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[0] == Errc{}));
  BOOST_TEST(wire.sink.orderly);
  BOOST_TEST(wire.arrived(0, 6));
}

BOOST_AUTO_TEST_CASE(late_duplicates_are_held_back) {
  Wire wire(FaultScript().add(Fault(FaultKind::kDuplicate, 0).at_packet(0).by(milliseconds(20))));
  wire.post(0, 2, wire.sink);
  wire.world.run_for(milliseconds(10));
  BOOST_TEST((wire.sink.outcomes[0] == Errc{}));
  std::fill(wire.memory.begin(), wire.memory.end(), std::byte{0});
  wire.world.run_until_idle();
  BOOST_TEST(wire.transport.counters().stale_packets == 1U);
  BOOST_TEST((wire.memory[5] == std::byte{0}));
}

BOOST_AUTO_TEST_CASE(the_order_holds_under_random_faults) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SeededRandom random(seed);
    FaultScript script;
    for (int i = 0; i < 3; ++i) {
      Fault fault(
          static_cast<FaultKind>(random.below(static_cast<std::uint64_t>(FaultKind::kStuckFence))),
          random.below(6));
      fault.packet = random.below(4);
      fault.delay = microseconds(random.below(6000));
      fault.amount = 1 + random.below(100'000);
      script.add(std::move(fault));
    }
    Wire wire(std::move(script));
    for (std::uint64_t i = 0; i < 8; ++i) {
      wire.post(2 * i, 2, wire.sink);
      wire.world.run_for(microseconds(random.below(2000)));
    }
    wire.world.run_for(std::chrono::seconds(5));
    BOOST_TEST(wire.fence(wire.sink).ok());
    BOOST_TEST_CONTEXT("seed " << seed) {
      BOOST_TEST(wire.sink.orderly);
      BOOST_TEST(wire.sink.outcomes.size() == 8U);
      BOOST_TEST(wire.held.pins() == 0U);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
