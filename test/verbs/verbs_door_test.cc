#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <string>

#include "engine/rail/verbs/kept_pairs.h"
#include "engine/rail/verbs/verbs_rail_door.h"
#include "test/verbs/verbs_rig.h"

namespace corail::test {
namespace {

Task<void> greet(VerbsRailDoor* door, SessionId session, Greeting greeting, Error* error) {
  const auto answer = co_await door->greet(session, encode(greeting));
  *error = answer.ok() ? Error() : answer.error();
}

Task<void> close_door(VerbsRailDoor* door) { co_await door->close(); }
Task<void> drop(VerbsRailDoor* door) { co_await door->drop_session(kSession); }

Errc greeted(VerbsRig& rig, const Greeting& greeting, SessionId session = kSession) {
  Error error;
  rig.run(greet(rig.door.get(), session, greeting, &error));
  return error.code();
}

Greeting of_rail(const VerbsRig& rig, std::uint64_t generation, std::size_t pairs) {
  Greeting greeting = rig.port->describe()->greeting;
  greeting.generation = generation;
  greeting.pairs.resize(pairs, GreetedPair{77, 1});
  return greeting;
}

BOOST_AUTO_TEST_SUITE(verbs_door)

BOOST_AUTO_TEST_CASE(it_says_where_it_is) {
  VerbsRig rig;
  BOOST_TEST(rig.endpoint.transport == "verbs");
  BOOST_TEST(rig.endpoint.address == "10.77.0.1");
  BOOST_TEST(rig.endpoint.port == 0);
}

BOOST_AUTO_TEST_CASE(a_later_generation_replaces_an_earlier_one_never) {
  VerbsRig rig;
  BOOST_TEST((greeted(rig, of_rail(rig, 5, 2)) == Errc::kUnset));
  BOOST_TEST(rig.door->pairs() == 2);
  BOOST_TEST((greeted(rig, of_rail(rig, 4, 2)) == Errc::kRefused));
  BOOST_TEST((greeted(rig, of_rail(rig, 5, 2)) == Errc::kRefused));
  BOOST_TEST((greeted(rig, of_rail(rig, 6, 2)) == Errc::kUnset));
  BOOST_TEST(rig.door->pairs() == 2);
  BOOST_TEST(rig.machine.pairs().size() == 2);
}

BOOST_AUTO_TEST_CASE(a_refused_greeting_takes_nothing) {
  VerbsRig rig;
  BOOST_TEST((greeted(rig, of_rail(rig, 5, 2)) == Errc::kUnset));
  Greeting second_channel = of_rail(rig, 7, 1);
  second_channel.first_channel = 1;
  BOOST_TEST((greeted(rig, second_channel) == Errc::kUnset));
  const auto before = rig.machine.pairs();
  // Later than what the first channel has, earlier than what the second has.
  BOOST_TEST((greeted(rig, of_rail(rig, 6, 2)) == Errc::kRefused));
  BOOST_TEST(rig.door->pairs() == 2);
  BOOST_TEST((rig.machine.pairs() == before));
}

BOOST_AUTO_TEST_CASE(a_greeting_that_waited_does_not_replace_a_later_one) {
  VerbsRig rig;
  BOOST_TEST((greeted(rig, of_rail(rig, 1, 1)) == Errc::kUnset));
  rig.machine.errors = {{"destroy_qp", EBUSY}};
  Error earlier;
  bool ended = false;
  asio::co_spawn(rig.context, greet(rig.door.get(), kSession, of_rail(rig, 2, 1), &earlier),
                 [&ended](const std::exception_ptr&) { ended = true; });
  rig.run_until([&rig] { return rig.machine.calls["destroy_qp"] >= 1; });
  BOOST_TEST((greeted(rig, of_rail(rig, 3, 1)) == Errc::kUnset));
  BOOST_TEST(!ended);
  const std::uint32_t later = rig.machine.pairs().back()->base.qp_num;
  rig.machine.errors.clear();
  rig.run_until([&ended] { return ended; });
  BOOST_TEST((earlier.code() == Errc::kRefused));
  BOOST_TEST(rig.door->pairs() == 1);
  BOOST_TEST_REQUIRE(rig.machine.pairs().size() == 1);
  BOOST_TEST(rig.machine.pairs().front()->base.qp_num == later);
}

BOOST_AUTO_TEST_CASE(queue_pairs_of_one_channel_are_built_no_faster_than_they_may) {
  VerbsRig rig;
  Greeting wrong = of_rail(rig, 1, 1);
  wrong.mtu_bytes = 1500;
  const TimePoint begin = rig.clock.now();
  BOOST_TEST((greeted(rig, wrong) == Errc::kProtocol));
  BOOST_TEST((greeted(rig, of_rail(rig, 1, 1)) == Errc::kUnset));
  BOOST_TEST((rig.clock.now() - begin >= kRebuildGap));
  BOOST_TEST((greeted(rig, of_rail(rig, 2, 1)) == Errc::kUnset));
  BOOST_TEST((rig.clock.now() - begin >= 2 * kRebuildGap));
  BOOST_TEST(rig.machine.pairs().size() == 1);
}

BOOST_AUTO_TEST_CASE(a_device_that_never_destroys_does_not_hold_up_the_end) {
  VerbsRig rig;
  rig.keeps_for_ever = true;
  BOOST_TEST((greeted(rig, of_rail(rig, 1, 2)) == Errc::kUnset));
  rig.machine.errors = {{"destroy_qp", EIO}};
  const std::size_t before = kept_pairs();
  rig.run(close_door(rig.door.get()));
  BOOST_TEST(kept_pairs() == before + 2);
  BOOST_TEST(rig.door->pairs() == 0);
  // Nobody reads through them any more all the same.
  for (const auto* pair : rig.machine.pairs()) BOOST_TEST((pair->base.state == IBV_QPS_ERR));
}

BOOST_AUTO_TEST_CASE(a_session_has_no_more_queue_pairs_than_it_may) {
  VerbsRig rig;
  for (std::uint64_t rail = 0; rail < kMaxSessionPairs / kMaxGreetedPairs; ++rail) {
    Greeting greeting = of_rail(rig, 1, kMaxGreetedPairs);
    greeting.rail = 1000 + rail;
    BOOST_TEST((greeted(rig, greeting) == Errc::kUnset));
  }
  BOOST_TEST((greeted(rig, of_rail(rig, 1, 1)) == Errc::kBusy));
  BOOST_TEST(rig.machine.pairs().size() == kMaxSessionPairs);
}

BOOST_AUTO_TEST_CASE(who_has_no_session_gets_nothing) {
  VerbsRig rig;
  BOOST_TEST((greeted(rig, of_rail(rig, 1, 1), SessionId(4)) == Errc::kRefused));
  BOOST_TEST(rig.machine.pairs().empty());
}

BOOST_AUTO_TEST_CASE(dropping_a_session_takes_its_queue_pairs) {
  VerbsRig rig;
  BOOST_TEST((greeted(rig, of_rail(rig, 1, 2)) == Errc::kUnset));
  rig.machine.errors = {{"destroy_qp", EBUSY}};
  bool dropped = false;
  asio::co_spawn(rig.context, drop(rig.door.get()),
                 [&dropped](const std::exception_ptr&) { dropped = true; });
  rig.run_until([&rig] { return rig.machine.calls["destroy_qp"] >= 2; });
  BOOST_TEST(!dropped);
  rig.machine.errors.clear();
  rig.run_until([&dropped] { return dropped; });
  BOOST_TEST(rig.machine.pairs().empty());
  BOOST_TEST((greeted(rig, of_rail(rig, 2, 2)) == Errc::kRefused));
}

BOOST_AUTO_TEST_CASE(a_port_that_is_down_answers_with_a_sentence) {
  VerbsRig rig;
  auto rail = rig.connected();
  close_rail(rig, std::move(rail));
  Greeting greeting = of_rail(rig, 1'000'000, 1);
  rig.machine.port_of("a").attributes.state = IBV_PORT_DOWN;
  Error error;
  rig.run(greet(rig.door.get(), kSession, greeting, &error));
  BOOST_TEST((error.code() == Errc::kConnectFailed));
  BOOST_TEST(error.detail().find("a:1 is down") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(ends_of_different_kinds_do_not_pair) {
  VerbsRig rig;
  Greeting greeting = of_rail(rig, 1, 1);
  greeting.link = LinkLayer::kInfiniBand;
  greeting.lid = 1;
  BOOST_TEST((greeted(rig, greeting) == Errc::kIncompatible));
  greeting = of_rail(rig, 2, 1);
  greeting.mtu_bytes = 1500;
  BOOST_TEST((greeted(rig, greeting) == Errc::kProtocol));
  BOOST_TEST(rig.machine.pairs().empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
