// Calls of the device that take their time, and what goes on meanwhile.
#include <algorithm>
#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/rail/rail_greeter.h"
#include "test/verbs/verbs_rig.h"

namespace corail::test {
namespace {

constexpr SessionId kOther{4};

/// A task that was started, and whether it has ended.
using Ended = std::shared_ptr<bool>;

Task<void> connect_rail(VerbsTransport* rail, RailEndpoint endpoint, TimePoint deadline) {
  const auto connected = co_await rail->connect(std::move(endpoint), deadline);
  BOOST_TEST_REQUIRE(connected.ok(), (connected.ok() ? "" : connected.error().to_string()));
}
Task<void> try_connect(VerbsTransport* rail, RailEndpoint endpoint, TimePoint deadline,
                       Result<void>* connected) {
  *connected = co_await rail->connect(std::move(endpoint), deadline);
}
Task<void> close_transport(VerbsTransport* rail) { co_await rail->close(); }
Task<void> drop(VerbsRailDoor* door, SessionId session) { co_await door->drop_session(session); }
Task<void> greet(VerbsRailDoor* door, Greeting greeting, Error* error) {
  const auto answer = co_await door->greet(kSession, encode(greeting));
  *error = answer.ok() ? Error() : answer.error();
}

/// A rig whose device makes its long calls only when it is let to.
struct SlowRig {
  ~SlowRig() {
    for (const SessionId session : {kSession, kOther}) {
      finish(start(drop(rig.door.get(), session)));
    }
  }

  Ended start(Task<void> task) {
    auto ended = std::make_shared<bool>(false);
    asio::co_spawn(rig.context, std::move(task), [ended](const std::exception_ptr& thrown) {
      *ended = true;
      if (thrown) std::rethrow_exception(thrown);
    });
    return ended;
  }
  std::size_t long_calls() {
    std::size_t sum = 0;
    for (const char* call : {"create_qp", "modify_qp:2", "modify_qp:3", "destroy_qp"}) {
      sum += rig.machine.calls[call];
    }
    return sum;
  }
  /// What is ready, but for long calls: of those, none is made here.
  void run_ready() {
    const std::size_t made = long_calls();
    rig.context.restart();
    while (rig.context.poll() > 0) rig.context.restart();
    BOOST_TEST_REQUIRE(long_calls() == made);
  }
  /// One long call, if somebody waits for one.
  bool run_call() {
    control.restart();
    return control.poll_one() > 0;
  }
  template <typename Condition>
  void run_until(Condition condition) {
    while (!condition()) {
      run_ready();
      run_call();
    }
  }
  void finish(const Ended& ended) {
    run_until([&ended] { return *ended; });
  }
  std::unique_ptr<VerbsTransport> connected(RailEndpoint endpoint) {
    auto rail = rig.make_rail();
    finish(start(connect_rail(rail.get(), std::move(endpoint), rig.soon())));
    return rail;
  }
  Greeting of_rail(std::uint64_t generation) {
    Greeting greeting = rig.port->describe()->greeting;
    greeting.generation = generation;
    greeting.pairs.resize(1, GreetedPair{77, 1});
    return greeting;
  }

  asio::io_context control;
  VerbsRig rig{control.get_executor()};
};

BOOST_AUTO_TEST_SUITE(control_calls)

BOOST_AUTO_TEST_CASE(a_rail_that_is_rebuilt_holds_up_no_other) {
  SlowRig slow;
  VerbsRig& rig = slow.rig;
  auto rebuilt = slow.connected(rig.endpoint);
  auto other = slow.connected(rig.admit(kOther));
  OutcomeSink wrong(rig.context.get_executor());
  auto slices = rig.slices(0, kKi, kKi);
  slices[0].remote_key += 12345;
  rebuilt->post(kRead, slices, wrong);
  const auto before = rig.machine.pairs();
  while (wrong.total() < 1) {
    rig.machine.run_all();
    slow.run_ready();
  }
  BOOST_TEST(wrong.count(Errc::kRefused) == 1, wrong.first_detail());
  // The device has begun to destroy the queue pair, and takes its time.
  slow.run_ready();
  BOOST_TEST((rig.machine.pairs() == before));
  OutcomeSink right(rig.context.get_executor());
  other->post(kRead, rig.slices(16 * kKi, 32 * kKi, kKi), right);
  while (right.total() < 16) {
    rig.machine.run_all();
    slow.run_ready();
  }
  BOOST_TEST(right.count(Errc::kUnset) == 16);
  BOOST_TEST(rig.landed(16 * kKi, 32 * kKi));
  BOOST_TEST((rig.machine.pairs() == before));
  // Once it has, the rail is whole again.
  OutcomeSink after(rig.context.get_executor());
  rebuilt->post(kRead, rig.slices(0, 16 * kKi, kKi), after);
  slow.run_until([&] {
    rig.machine.run_all();
    return after.total() == 16;
  });
  BOOST_TEST(after.count(Errc::kUnset) == 16, after.first_detail());
  slow.finish(slow.start(close_transport(rebuilt.get())));
  slow.finish(slow.start(close_transport(other.get())));
}

BOOST_AUTO_TEST_CASE(a_session_that_ends_while_its_rail_is_built_leaves_nothing) {
  // Whichever of its two calls is under way.
  for (int calls = 0; calls < 2; ++calls) {
    SlowRig slow;
    VerbsRig& rig = slow.rig;
    Error answer;
    const Ended greeted = slow.start(greet(rig.door.get(), slow.of_rail(1), &answer));
    slow.run_ready();
    for (int i = 0; i < calls; ++i) {
      BOOST_TEST(slow.run_call());
      slow.run_ready();
    }
    const Ended dropped = slow.start(drop(rig.door.get(), kSession));
    slow.run_ready();
    slow.finish(greeted);
    slow.finish(dropped);
    BOOST_TEST((answer.code() == Errc::kRefused), answer.to_string());
    BOOST_TEST(rig.door->pairs() == 0);
    BOOST_TEST(rig.machine.pairs().size() == 0);
  }
}

/// However many come while the device takes its time, a rail has no more queue pairs than it may.
BOOST_AUTO_TEST_CASE(of_greetings_that_come_at_once_the_latest_stays) {
  constexpr std::uint64_t kGreetings = 5;
  SlowRig slow;
  VerbsRig& rig = slow.rig;
  std::vector<Error> answers(kGreetings);
  std::vector<Ended> ended;
  for (std::uint64_t i = 0; i < kGreetings; ++i) {
    ended.push_back(slow.start(greet(rig.door.get(), slow.of_rail(i + 1), &answers[i])));
  }
  const auto all_ended = [&ended] {
    return std::all_of(ended.begin(), ended.end(), [](const Ended& one) { return *one; });
  };
  std::size_t most = 0;
  TimePoint next = rig.clock.now();
  while (!all_ended()) {
    slow.run_ready();
    if (rig.clock.now() >= next && slow.run_call()) next = rig.clock.now() + kRebuildGap / 2;
    most = std::max(most, rig.machine.pairs().size());
  }
  BOOST_TEST(most == 1U);
  BOOST_TEST((answers.back().code() == Errc::kUnset), answers.back().to_string());
  BOOST_TEST(rig.door->pairs() == 1);
  // And it is the latest one's.
  Error again;
  slow.finish(slow.start(greet(rig.door.get(), slow.of_rail(kGreetings), &again)));
  BOOST_TEST((again.code() == Errc::kRefused), again.to_string());
}

BOOST_AUTO_TEST_CASE(who_has_given_up_is_built_nothing) {
  SlowRig slow;
  VerbsRig& rig = slow.rig;
  Error first;
  Error second;
  const Ended held = slow.start(greet(rig.door.get(), slow.of_rail(1), &first));
  const Ended waits = slow.start(greet(rig.door.get(), slow.of_rail(2), &second));
  const TimePoint begun = rig.clock.now();
  while (!*waits && rig.clock.now() < begun + 2 * kGreetTime) slow.run_ready();
  BOOST_TEST_REQUIRE(*waits);
  BOOST_TEST((second.code() == Errc::kBusy), second.to_string());
  slow.finish(held);
  BOOST_TEST((first.code() == Errc::kUnset), first.to_string());
  BOOST_TEST(rig.machine.pairs().size() == 1);
}

/// The session, which would carry the greeting, may be gone by then.
BOOST_AUTO_TEST_CASE(a_rail_that_was_closed_meanwhile_greets_nobody) {
  SlowRig slow;
  VerbsRig& rig = slow.rig;
  struct Counting final : RailGreeter {
    Task<Result<std::string>> greet(std::string, TimePoint) override {
      ++greeted;
      co_return Error(Errc::kClosed, Stage::kConnect, "nobody is there");
    }
    int greeted = 0;
  };
  const auto counting = std::make_shared<Counting>();
  RailEndpoint endpoint = rig.endpoint;
  endpoint.greeter = counting;
  auto rail = rig.make_rail();
  Result<void> connected;
  const Ended ended =
      slow.start(try_connect(rail.get(), std::move(endpoint), rig.soon(), &connected));
  slow.run_ready();
  const Ended closed = slow.start(close_transport(rail.get()));
  slow.run_ready();
  slow.finish(ended);
  slow.finish(closed);
  BOOST_TEST(!connected.ok());
  BOOST_TEST(counting->greeted == 0);
}

BOOST_AUTO_TEST_CASE(a_device_that_is_lost_while_it_connects_connects_nothing) {
  SlowRig slow;
  VerbsRig& rig = slow.rig;
  auto rail = rig.make_rail();
  Result<void> connected;
  const Ended ended = slow.start(try_connect(rail.get(), rig.endpoint, rig.soon(), &connected));
  slow.run_ready();
  rig.machine.tell("a", IBV_EVENT_DEVICE_FATAL);
  slow.run_until([&rig] { return rig.port->fault().has_value(); });
  slow.finish(ended);
  BOOST_TEST(!connected.ok());
  BOOST_TEST(!rail->usable());
  slow.finish(slow.start(close_transport(rail.get())));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
