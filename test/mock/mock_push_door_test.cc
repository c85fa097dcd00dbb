#include <boost/test/unit_test.hpp>
#include <chrono>
#include <utility>

#include "test/mock/mock_wire.h"

// Which orders a mock door takes, and what it holds meanwhile.

namespace corail::test {
namespace {

using std::chrono::milliseconds;

Task<bool> drop_from(MockHolder* holder, SessionId session) {
  co_await holder->drop_session(session);
  co_return true;
}

Task<bool> close_door(MockHolder* holder) {
  co_await holder->close();
  co_return true;
}

/// What the door says of the order; starts it only.
VirtualWorld::Outcome<Result<void>> push(Wire& wire, SessionId session, const PushOrder& order,
                                         std::uint64_t length) {
  auto bytes = wire.held.admit(session, order.context, RegionId(100), order.source_offset, length);
  BOOST_TEST_REQUIRE(bytes.ok());
  return wire.world.start(
      wire.holder.push(session, order, std::move(bytes).value(), [] { return false; }));
}

Errc code_of(Wire& wire, SessionId session, const PushOrder& order, std::uint64_t length) {
  const auto outcome = push(wire, session, order, length);
  wire.world.run_until_idle();
  BOOST_TEST_REQUIRE(outcome->has_value());
  return (*outcome)->ok() ? Errc{} : (*outcome)->error().code();
}

PushOrder ordered(Wire& wire) { return wire.world.run(wire.courier->next()).order; }

BOOST_AUTO_TEST_SUITE(mock_push_door)

BOOST_AUTO_TEST_CASE(a_number_is_taken_once) {
  Wire wire;
  wire.post_pushed(0, 1, wire.sink);
  wire.post_pushed(1, 1, wire.sink);
  const PushOrder first = ordered(wire);
  const PushOrder second = ordered(wire);
  BOOST_TEST(second.number > first.number);
  BOOST_TEST((code_of(wire, SessionId(1), second, 65'536) == Errc{}));
  BOOST_TEST((code_of(wire, SessionId(1), first, 65'536) == Errc{}));
  BOOST_TEST((code_of(wire, SessionId(1), first, 65'536) == Errc::kRefused));
  BOOST_TEST((code_of(wire, SessionId(1), second, 65'536) == Errc::kRefused));
  BOOST_TEST(wire.transport.counters().packets == 2U);
  BOOST_TEST(wire.held.pins() == 0U);
}

BOOST_AUTO_TEST_CASE(orders_that_cannot_be_are_refused) {
  Wire wire;
  wire.post_pushed(0, 1, wire.sink);
  const PushOrder good = ordered(wire);
  BOOST_TEST((code_of(wire, SessionId(1), good, 65'535) == Errc::kRefused));
  BOOST_TEST((code_of(wire, SessionId(2), good, 65'536) == Errc::kRefused));
  PushOrder elsewhere = good;
  elsewhere.channel = good.channel + 1;
  BOOST_TEST((code_of(wire, SessionId(1), elsewhere, 65'536) == Errc::kRefused));
  PushOrder never = good;
  never.number = good.number + 7;
  // Its channel exists, but nobody there waits for it.
  BOOST_TEST((code_of(wire, SessionId(1), never, 65'536) == Errc::kCancelled));
  BOOST_TEST(wire.transport.counters().packets == 0U);
  BOOST_TEST(wire.held.pins() == 0U);
}

BOOST_AUTO_TEST_CASE(dropping_the_session_ends_what_is_pushed_and_waits_for_it) {
  for (const bool whole_door : {false, true}) {
    Wire wire;
    wire.post_pushed(0, 8, wire.sink);
    const PushOrder order = ordered(wire);
    const auto outcome = push(wire, SessionId(1), order, order.length);
    wire.world.run_for(milliseconds(3));
    BOOST_TEST(wire.held.pins() == 1U);
    BOOST_TEST(!outcome->has_value());
    if (whole_door) {
      wire.world.run(close_door(&wire.holder));
    } else {
      wire.world.run(drop_from(&wire.holder, SessionId(1)));
    }
    BOOST_TEST(wire.held.pins() == 0U);
    BOOST_TEST_REQUIRE(outcome->has_value());
    BOOST_TEST(((*outcome)->error().code() == Errc::kConnectionLost));
    wire.world.run_until_idle();
    BOOST_TEST((wire.sink.outcomes[0] == Errc::kConnectionLost));
    BOOST_TEST((code_of(wire, SessionId(1), order, order.length) == Errc::kConnectionLost));
  }
}

BOOST_AUTO_TEST_CASE(closing_the_rail_ends_what_is_pushed) {
  Wire wire;
  wire.post_pushed(0, 8, wire.sink);
  const PushOrder order = ordered(wire);
  const auto outcome = push(wire, SessionId(1), order, order.length);
  wire.world.run_for(milliseconds(3));
  wire.world.run(close(&wire.transport));
  wire.world.settle();
  BOOST_TEST_REQUIRE(outcome->has_value());
  BOOST_TEST(!(*outcome)->ok());
  BOOST_TEST(wire.held.pins() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
