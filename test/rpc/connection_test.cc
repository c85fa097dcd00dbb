#include "rpc/connection.h"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <stdexcept>

#include "test/rpc/connection_support.h"

namespace corail::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

BOOST_AUTO_TEST_SUITE(connections)

BOOST_AUTO_TEST_CASE(a_call_is_answered_and_its_bytes_are_counted) {
  TwoSides sides;
  const Called called = sides.call(kEcho, "hello");
  BOOST_REQUIRE(called.result.ok());
  BOOST_TEST(called.parts == std::vector<std::string>{"hello"}, boost::test_tools::per_element());
  BOOST_TEST(called.result->answer_bytes == kFrameHeaderBytes + 5);
  // Both sides may call.
  const auto back =
      sides.world.run(call(sides.server.get(), kEcho, "and back", sides.within(seconds(1)), false));
  BOOST_REQUIRE(back.result.ok());
  BOOST_TEST(back.parts[0] == "and back");
}

BOOST_AUTO_TEST_CASE(large_bodies_pass_in_any_fragments) {
  for (const std::size_t fragment : {0U, 1U, 7U, 60'000U}) {
    MemoryStreamOptions options;
    options.max_read_bytes = fragment;
    TwoSides sides({}, options);
    for (const std::size_t size : {0U, 1U, 4096U, 65'520U, 65'536U, 65'537U, 300'000U}) {
      if (fragment == 1 && size > 65'537) continue;
      std::string body(size, 'x');
      for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>(i * 31 % 251);
      const Called called = sides.call(kEcho, body);
      BOOST_REQUIRE(called.result.ok());
      BOOST_TEST((called.parts[0] == body));
    }
  }
}

BOOST_AUTO_TEST_CASE(answers_come_out_of_order) {
  TwoSides sides;
  const CallOptions options = sides.within(seconds(10));
  const auto first = sides.start(kHold, "first", options);
  const auto second = sides.start(kHold, "second", options);
  const auto third = sides.start(kEcho, "third", options);
  BOOST_TEST((third->has_value() && !first->has_value() && !second->has_value()));
  BOOST_REQUIRE(sides.server_handler.held.size() == 2U);
  sides.server_handler.held.back()->notify();
  sides.world.settle();
  BOOST_REQUIRE((second->has_value() && !first->has_value()));
  BOOST_TEST((*second)->parts[0] == "second");
  sides.server_handler.held.front()->notify();
  sides.world.settle();
  BOOST_REQUIRE(first->has_value());
  BOOST_TEST((*first)->parts[0] == "first");
}

BOOST_AUTO_TEST_CASE(answers_may_be_streamed) {
  TwoSides sides;
  const Called called = sides.call(kStream, "");
  BOOST_REQUIRE(called.result.ok());
  const std::vector<std::string> expected = {"0", "1", "2", "end"};
  BOOST_TEST(called.parts == expected, boost::test_tools::per_element());
  BOOST_TEST(called.result->answer_bytes == 4 * kFrameHeaderBytes + 6);
}

BOOST_AUTO_TEST_CASE(a_stream_longer_than_the_send_queue_waits_for_its_reader) {
  ConnectionOptions options;
  options.send.max_bytes = 2000;
  MemoryStreamOptions stream;
  stream.buffer_bytes = 64;
  TwoSides sides(options, stream);
  sides.server_handler.parts = 500;
  const Called called = sides.call(kStream, "");
  BOOST_REQUIRE(called.result.ok());
  BOOST_TEST(called.parts.size() == 501U);
}

BOOST_AUTO_TEST_CASE(a_sink_that_refuses_gives_the_call_up) {
  TwoSides sides;
  sides.server_handler.parts = 100;
  const auto called =
      sides.world.run(call(sides.client.get(), kStream, "", sides.within(seconds(10)), true));
  BOOST_REQUIRE(!called.result.ok());
  BOOST_TEST(called.result.error().detail() == "the sink wants no more");
  BOOST_TEST(sides.call(kEcho, "still there").result.ok());
}

BOOST_AUTO_TEST_CASE(errors_carry_code_stage_and_peer) {
  TwoSides sides;
  const Called called = sides.call(kFail, "");
  BOOST_REQUIRE(!called.result.ok());
  const Error& error = called.result.error();
  BOOST_TEST((error.code() == Errc::kLeaseExpired && error.stage() == Stage::kConfirm));
  BOOST_TEST(error.peer() == "memory:right");
  // An exception of a handler costs its caller the answer and nobody else anything.
  const Called thrown = sides.call(Method::kHello, "");
  BOOST_REQUIRE(!thrown.result.ok());
  BOOST_TEST(thrown.result.error().detail().find("a handler's own fault") != std::string::npos);
  BOOST_TEST(sides.call(kEcho, "").result.ok());
}

BOOST_AUTO_TEST_CASE(notifications_arrive) {
  TwoSides sides;
  BOOST_TEST(sides.server->notify(Method::kRegionsChanged, frame_of("news")).ok());
  sides.world.settle();
  BOOST_TEST(sides.client_handler.notified == std::vector<std::string>{"news"},
             boost::test_tools::per_element());
  // One that breaks the rules ends the connection, and the sender hears why.
  BOOST_TEST(sides.server->notify(Method::kRegionsChanged, frame_of("bad")).ok());
  sides.world.settle();
  BOOST_TEST(!sides.client->usable());
  const Error why = sides.world.run(sides.server->wait_ended());
  BOOST_TEST((why.code() == Errc::kProtocol && why.detail() == "a bad notification"));
}

BOOST_AUTO_TEST_CASE(every_call_has_a_deadline_and_the_handler_hears_of_it) {
  TwoSides sides;
  const TimePoint begin = sides.world.now();
  const auto late = sides.start(kHold, "late", sides.within(milliseconds(700)));
  const auto later = sides.start(kHold, "later", sides.within(seconds(2)));
  sides.world.run_until(begin + milliseconds(699));
  BOOST_TEST(!late->has_value());
  sides.world.run_until(begin + milliseconds(700));
  BOOST_TEST((failed_with(late, Errc::kDeadline) && !later->has_value()));
  BOOST_TEST((*late)->result.error().to_string() ==
             "deadline exceeded (peer memory:right): the peer did not answer ReleaseLease within "
             "0.7 s; it is overloaded, hung or cut off");
  BOOST_TEST(sides.server_handler.cancelled == 1);
  sides.world.run_until(begin + seconds(2));
  BOOST_TEST(failed_with(later, Errc::kDeadline));
  BOOST_TEST(sides.server_handler.cancelled == 2);
  // One in the past fails as well, and the connection goes on.
  const auto past = sides.start(kHold, "past", CallOptions{begin, nullptr});
  sides.world.run_for(milliseconds(1));
  BOOST_TEST(failed_with(past, Errc::kDeadline));
  BOOST_TEST(sides.call(kEcho, "").result.ok());
}

BOOST_AUTO_TEST_CASE(a_cancelled_call_ends_at_once_and_the_handler_hears_of_it) {
  TwoSides sides;
  CallCancel cancel;
  const auto held = sides.start(kHold, "x", CallOptions{sides.in(seconds(10)), &cancel});
  BOOST_TEST((!held->has_value() && sides.server_handler.held.size() == 1));
  cancel.fire();
  sides.world.settle();
  BOOST_TEST(failed_with(held, Errc::kCancelled));
  BOOST_TEST(sides.server_handler.cancelled == 1);
  const auto again = sides.start(kEcho, "x", CallOptions{sides.in(seconds(10)), &cancel});
  BOOST_TEST(failed_with(again, Errc::kCancelled));
  BOOST_TEST(sides.server_handler.served == 1);
  BOOST_TEST(sides.call(kEcho, "").result.ok());
}

BOOST_AUTO_TEST_CASE(pending_calls_are_bounded) {
  ConnectionOptions options;
  options.max_pending_calls = 2;
  TwoSides sides(options);
  const CallOptions within = sides.within(seconds(1));
  const auto first = sides.start(kHold, "", within);
  const auto second = sides.start(kHold, "", within);
  const auto third = sides.start(kEcho, "", within);
  BOOST_TEST(failed_with(third, Errc::kBusy));
  sides.server_handler.let_go();
  sides.world.settle();
  BOOST_TEST(sides.call(kEcho, "").result.ok());
}

BOOST_AUTO_TEST_CASE(inbound_calls_are_bounded) {
  TwoSides sides;
  std::vector<VirtualWorld::Outcome<Called>> calls;
  const CallOptions within = sides.within(seconds(1));
  for (int i = 0; i < 257; ++i) calls.push_back(sides.start(kHold, "", within));
  BOOST_TEST(sides.server_handler.held.size() == 256U);
  BOOST_TEST(failed_with(calls.back(), Errc::kBusy));
  BOOST_TEST((*calls.back())->result.error().detail() ==
             "256 calls of this connection are being served already");
  sides.server_handler.let_go();
  sides.world.settle();
  BOOST_TEST(calls.front()->has_value());
  BOOST_TEST(sides.call(kEcho, "").result.ok());
}

BOOST_AUTO_TEST_CASE(messages_over_their_limit_do_not_leave) {
  TwoSides sides;
  const Called large = sides.call(kFail, std::string(4097, 'x'));
  BOOST_REQUIRE(!large.result.ok());
  BOOST_TEST((large.result.error().code() == Errc::kTooLarge));
  BOOST_TEST(sides.server_handler.served == 0);
  BOOST_TEST(sides.call(kEcho, "").result.ok());
}

BOOST_AUTO_TEST_CASE(close_ends_pending_calls_and_handlers) {
  TwoSides sides;
  const auto held = sides.start(kHold, "", sides.within(seconds(60)));
  sides.world.run(close(sides.client.get()));
  BOOST_TEST(failed_with(held, Errc::kConnectionLost));
  BOOST_TEST((*held)->result.error().peer() == "memory:right");
  sides.world.settle();
  BOOST_TEST(sides.server_handler.cancelled == 1);
  BOOST_TEST(!sides.server->usable());
  const auto late = sides.start(kEcho, "", sides.within(seconds(60)));
  BOOST_TEST(failed_with(late, Errc::kConnectionLost));
}

BOOST_AUTO_TEST_CASE(the_peers_end_and_a_cut_cable_end_all_calls) {
  for (const bool cut : {false, true}) {
    TwoSides sides;
    const auto first = sides.start(kHold, "", sides.within(seconds(60)));
    const auto second = sides.start(kHold, "", sides.within(seconds(60)));
    if (cut) {
      sides.pair.cut();
    } else {
      sides.world.run(close(sides.server.get()));
    }
    sides.world.run_for(seconds(2));
    for (const auto& held : {first, second}) {
      BOOST_REQUIRE(failed_with(held, Errc::kConnectionLost));
      BOOST_TEST((*held)->result.error().peer() == "memory:right");
    }
    BOOST_TEST(!sides.client->usable());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
