#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <functional>
#include <utility>

#include "test/mock/mock_wire.h"

// Pushed slices over the modelled link: it treats them as it does reads, and they end with their
// bytes and the owner's answer.

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

PushReceipt receipt_of(const PushOrder& order) {
  PushReceipt receipt;
  receipt.bytes = order.length;
  return receipt;
}

/// The next order that nobody has taken.
CarriedOrder take(Wire& wire) { return wire.world.run(wire.courier->next()); }

Task<bool> serve_one(Wire* wire, CarriedOrder carried) {
  std::function<bool()> never = [] { return false; };
  co_await serve_order(wire->owner(), std::move(carried), std::move(never));
  co_return true;
}

BOOST_AUTO_TEST_SUITE(mock_push)

BOOST_AUTO_TEST_CASE(pushed_bytes_arrive_when_the_model_says) {
  Wire wire;
  BOOST_TEST(wire.transport.capabilities().pushes);
  wire.serve();
  wire.post_pushed(0, 4, wire.sink);
  wire.post_pushed(4, 2, wire.sink);
  BOOST_TEST(wire.sink.outcomes.empty());
  // From half the latency on: the order's way is the courier's.
  wire.world.run_until(wire.begin + microseconds(25) + milliseconds(3));
  BOOST_TEST(wire.sink.landed[0] == 3U * 65'536);
  BOOST_TEST(wire.arrived(0, 3));
  BOOST_TEST(!wire.arrived(3, 1));
  BOOST_TEST(wire.held.pins() == 2U);
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[0] == Errc{}));
  BOOST_TEST((wire.sink.ended[0] == wire.begin + microseconds(25) + milliseconds(4)));
  BOOST_TEST((wire.sink.ended[4] == wire.begin + microseconds(25) + milliseconds(6)));
  BOOST_TEST(wire.arrived(0, 6));
  BOOST_TEST(wire.sink.orderly);
  BOOST_TEST(wire.sink.receipts == 2U);
  BOOST_TEST(wire.held.pins() == 0U);
}

BOOST_AUTO_TEST_CASE(a_fence_ends_them_and_nothing_lands_afterwards) {
  Wire wire;
  wire.serve();
  wire.post_pushed(0, 8, wire.sink);
  wire.world.run_for(microseconds(2500));
  BOOST_TEST(wire.sink.landed[0] > 0U);
  BOOST_TEST(wire.fence(wire.sink).ok());
  BOOST_TEST((wire.sink.outcomes[0] == Errc::kFlushed));
  std::fill(wire.memory.begin(), wire.memory.end(), std::byte{0});
  wire.world.run_until_idle();
  BOOST_TEST(std::all_of(wire.memory.begin(), wire.memory.end(),
                         [](std::byte byte) { return byte == std::byte{0}; }));
  BOOST_TEST(wire.transport.counters().stale_packets > 0U);
  BOOST_TEST(wire.held.pins() == 0U);
  wire.post_pushed(8, 1, wire.sink);
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[8] == Errc{}));
}

BOOST_AUTO_TEST_CASE(an_order_that_arrives_after_the_fence_is_not_served) {
  Wire wire;
  wire.post_pushed(0, 2, wire.sink);
  const CarriedOrder carried = take(wire);
  BOOST_TEST(wire.fence(wire.sink).ok());
  wire.world.run(serve_one(&wire, carried));
  wire.world.run_until_idle();
  BOOST_TEST(wire.transport.counters().packets == 0U);
  BOOST_TEST(wire.held.pins() == 0U);
}

BOOST_AUTO_TEST_CASE(the_owner_decides) {
  Wire wire;
  wire.post_pushed(0, 1, wire.sink);
  wire.post_pushed(1, 1, wire.sink);
  wire.post_pushed(2, 1, wire.sink);
  take(wire).answered(Error(Errc::kLeaseExpired, "no"));
  take(wire).answered(Error(Errc::kConnectionLost, "the control connection was lost"));
  const CarriedOrder third = take(wire);
  PushReceipt receipt = receipt_of(third.order);
  ++receipt.bytes;
  third.answered(receipt);
  BOOST_TEST((wire.sink.outcomes[0] == Errc::kLeaseExpired));
  BOOST_TEST((wire.sink.outcomes[1] == Errc::kRailFailed));
  BOOST_TEST((wire.sink.outcomes[2] == Errc::kProtocol));
  BOOST_TEST(wire.transport.usable());
}

BOOST_AUTO_TEST_CASE(neither_the_answer_nor_the_bytes_end_a_slice_alone) {
  Wire wire;
  wire.post_pushed(0, 2, wire.sink);
  wire.post_pushed(2, 2, wire.sink);
  const CarriedOrder early = take(wire);
  CarriedOrder late = take(wire);
  early.answered(receipt_of(early.order));
  const auto answer = std::exchange(late.answered, [](const Result<PushReceipt>&) {});
  wire.world.run(serve_one(&wire, late));
  wire.world.run_until_idle();
  BOOST_TEST(wire.sink.landed[2] == 2U * 65'536);
  BOOST_TEST(wire.sink.outcomes.empty());
  answer(receipt_of(late.order));
  BOOST_TEST((wire.sink.outcomes[2] == Errc{}));
  BOOST_TEST(wire.sink.outcomes.size() == 1U);
  wire.world.run(serve_one(&wire, early));
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[0] == Errc{}));
  BOOST_TEST(wire.arrived(0, 4));
  BOOST_TEST(wire.sink.orderly);
}

BOOST_AUTO_TEST_CASE(a_cancel_of_the_owners_stops_it_before_the_next_part) {
  Wire wire;
  wire.serve();
  wire.post_pushed(0, 8, wire.sink);
  wire.post_pushed(8, 1, wire.sink);
  wire.world.run_for(microseconds(2500));
  wire.cancelled = true;
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[0] == Errc::kCancelled));
  BOOST_TEST(wire.sink.landed[0] <= 4U * 65'536);
  BOOST_TEST((wire.sink.outcomes[8] == Errc::kCancelled));
  BOOST_TEST(wire.held.pins() == 0U);
  BOOST_TEST(wire.transport.usable());
}

BOOST_AUTO_TEST_CASE(faults_of_the_link_meet_pushed_slices_as_well) {
  Wire wire(FaultScript()
                .add(Fault(FaultKind::kReorder, 0).at_packet(1).by(microseconds(2500)))
                .add(Fault(FaultKind::kDuplicate, 0).at_packet(2).by(milliseconds(50)))
                .add(Fault(FaultKind::kFlip, 1).of(9))
                .add(Fault(FaultKind::kShort, 2).of(65'536))
                .add(Fault(FaultKind::kEarlyCompletion, 3).by(milliseconds(4)))
                .add(Fault(FaultKind::kStall, 4).at_packet(1)));
  wire.serve();
  for (std::uint64_t i = 0; i < 5; ++i) wire.post_pushed(2 * i, i == 0 ? 3 : 2, wire.sink);
  wire.world.run_for(milliseconds(30));
  BOOST_TEST((wire.sink.outcomes[0] == Errc{}));
  BOOST_TEST(wire.arrived(0, 2));
  BOOST_TEST((wire.sink.outcomes[2] == Errc{}));
  BOOST_TEST(!wire.arrived(2, 1));
  // It is for the read to count what has landed.
  BOOST_TEST((wire.sink.outcomes[4] == Errc{}));
  BOOST_TEST(wire.sink.landed[4] == 65'536U);
  // The owner said so before the last packet was placed.
  BOOST_TEST((wire.sink.outcomes[6] == Errc{}));
  BOOST_TEST(wire.arrived(6, 2));
  BOOST_TEST(!wire.sink.outcomes.contains(8));
  BOOST_TEST(wire.held.pins() == 1U);
  BOOST_TEST(wire.sink.receipts == 4U);
  wire.world.run_until_idle();
  BOOST_TEST(wire.transport.counters().stale_packets == 1U);
  BOOST_TEST(wire.fence(wire.sink).ok());
  wire.world.settle();
  BOOST_TEST((wire.sink.outcomes[8] == Errc::kFlushed));
  BOOST_TEST(wire.sink.orderly);
  BOOST_TEST(wire.held.pins() == 0U);
}

BOOST_AUTO_TEST_CASE(a_cut_link_ends_them_at_both_ends) {
  Wire wire(FaultScript().add(Fault(FaultKind::kCut, 0).at_packet(2)));
  wire.serve();
  wire.post_pushed(0, 8, wire.sink);
  wire.post_pushed(8, 2, wire.sink);
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[0] == Errc::kFlushed));
  BOOST_TEST((wire.sink.outcomes[8] == Errc::kFlushed));
  BOOST_TEST(!wire.transport.usable());
  BOOST_TEST(wire.held.pins() == 0U);
}

BOOST_AUTO_TEST_CASE(who_has_no_courier_is_refused) {
  Wire wire;
  MockTransport bare(wire.world.executor(), wire.world.clock(), wire.random, wire.net,
                     Wire::small_options(), FaultScript());
  ChannelToken token{};
  token[0] = 1;
  const RailEndpoint endpoint = wire.holder.admit_session(SessionId(2), token, wire.held);
  BOOST_TEST_REQUIRE(
      wire.world.run(bare.connect(endpoint, wire.world.now() + milliseconds(9))).ok());
  Slice slice;
  slice.destination = wire.memory.data();
  slice.length = 100;
  slice.pushed = true;
  bare.post(ReadContext{}, std::span(&slice, 1), wire.sink);
  BOOST_TEST(wire.sink.outcomes.empty());
  wire.world.run_until_idle();
  BOOST_TEST((wire.sink.outcomes[0] == Errc::kRefused));
  BOOST_TEST(bare.usable());
  wire.world.run(close(&bare));
}

BOOST_AUTO_TEST_CASE(the_order_holds_under_random_faults) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SeededRandom random(seed);
    FaultScript script;
    for (int i = 0; i < 3; ++i) {
      const auto kinds = static_cast<std::uint64_t>(FaultKind::kStuckFence);
      Fault fault(static_cast<FaultKind>(random.below(kinds)), random.below(6));
      fault.packet = random.below(4);
      fault.delay = microseconds(random.below(6000));
      fault.amount = 1 + random.below(100'000);
      script.add(std::move(fault));
    }
    Wire wire(std::move(script));
    wire.serve();
    for (std::uint64_t i = 0; i < 8; ++i) {
      wire.post(2 * i, 2, wire.sink, random.below(3) > 0);
      wire.world.run_for(microseconds(random.below(2000)));
    }
    wire.world.run_for(std::chrono::seconds(5));
    BOOST_TEST(wire.fence(wire.sink).ok());
    wire.world.settle();
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
