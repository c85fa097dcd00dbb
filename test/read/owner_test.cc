#include <boost/test/unit_test.hpp>

#include "test/support/read_rig.h"

namespace corail::test {
namespace {

using std::chrono::milliseconds;

/// One read over two rails, whose owner can be scripted before it runs.
struct Owned {
  Owned() : rig(HeldShape{}, std::vector<RailPlan>(2), 4) {}

  void run(Duration time) {
    ReadRequest request = rig.request();
    deadline = rig.world.now() + time;
    request.deadline = deadline;
    read = rig.make(std::move(request));
    result = rig.finish(*read);
  }

  void check_refused(Errc expected) {
    BOOST_TEST_REQUIRE(!result.ok());
    BOOST_TEST((result.error().code() == expected), text_of(result));
    BOOST_TEST((result.error().stage() == Stage::kConfirm));
    BOOST_TEST((read->phase() == ReadPhase::kCancelled));
    // Everything had landed and was right, and still is not handed over (I2).
    BOOST_TEST(read->report().verified_bytes == rig.held.total_bytes());
    BOOST_TEST(rig.complaint(*read, result).value_or("") == "");
  }

  ReadRig rig;
  TimePoint deadline{};
  std::unique_ptr<RigRead> read;
  Result<void> result;
};

BOOST_AUTO_TEST_SUITE(owners)

BOOST_AUTO_TEST_CASE(a_lapsed_lease_is_not_handed_over) {
  Owned it;
  it.rig.owner.confirm_answer =
      OwnerAnswer(Error(Errc::kLeaseExpired, "it lapsed"), milliseconds(1));
  it.run(std::chrono::minutes(1));
  it.check_refused(Errc::kLeaseExpired);
}

BOOST_AUTO_TEST_CASE(a_changed_generation_is_not_handed_over) {
  Owned it;
  it.rig.owner.confirm_answer =
      OwnerAnswer(Error(Errc::kGenerationChanged, "it changed"), milliseconds(1));
  it.run(std::chrono::minutes(1));
  it.check_refused(Errc::kGenerationChanged);
}

BOOST_AUTO_TEST_CASE(silence_is_a_no) {
  Owned it;
  it.rig.owner.confirm_answer = never_answers();
  it.run(std::chrono::seconds(3));
  it.check_refused(Errc::kDeadline);
  BOOST_TEST((it.read->ended() == it.deadline));
}

BOOST_AUTO_TEST_CASE(a_late_answer_is_a_no) {
  Owned it;
  it.rig.owner.confirm_answer = OwnerAnswer(ok_result(), std::chrono::seconds(10));
  it.run(std::chrono::seconds(3));
  it.check_refused(Errc::kDeadline);
}

BOOST_AUTO_TEST_CASE(a_slow_yes_is_a_yes) {
  Owned it;
  it.rig.owner.confirm_answer = OwnerAnswer(ok_result(), std::chrono::seconds(2));
  it.run(std::chrono::seconds(3));
  BOOST_TEST(it.result.ok());
  BOOST_TEST((it.read->report().stages.commit == std::chrono::seconds(2)));
  BOOST_TEST(it.rig.complaint(*it.read, it.result).value_or("") == "");
}

BOOST_AUTO_TEST_CASE(the_owner_is_asked_when_all_has_landed) {
  Owned it;
  bool complete = false;
  it.rig.owner.on_confirm = [&] { complete = !it.read->difference_to(it.rig.held); };
  it.run(std::chrono::minutes(1));
  BOOST_TEST(it.result.ok());
  BOOST_TEST(complete);
}

BOOST_AUTO_TEST_CASE(an_owner_that_hears_nothing_delays_a_cancel_only_so_long) {
  ReadRig rig(HeldShape{}, std::vector<RailPlan>(2), 4);
  rig.owner.release_answer = never_answers();
  ReadRequest request = rig.request();
  CancelToken token = request.cancel;
  const Duration bound = request.fence_deadline;
  const auto read = rig.make(std::move(request));
  const auto outcome = rig.world.start(read->run());
  rig.world.run_for(milliseconds(1));
  const TimePoint asked = rig.world.now();
  token.cancel();
  rig.world.run_until_idle();
  BOOST_TEST_REQUIRE(outcome->has_value());
  BOOST_TEST(!(**outcome).ok());
  BOOST_TEST((read->ended() - asked <= bound));
  BOOST_TEST(rig.complaint(*read, **outcome).value_or("") == "");
}

BOOST_AUTO_TEST_CASE(a_cancel_does_not_wait_for_a_confirmation_that_does_not_come) {
  ReadRig rig(HeldShape{}, std::vector<RailPlan>(2), 4);
  rig.owner.confirm_answer = never_answers();
  ReadRequest request = rig.request();
  CancelToken token = request.cancel;
  const auto read = rig.make(std::move(request));
  const auto outcome = rig.world.start(read->run());
  while (rig.owner.confirms == 0) BOOST_REQUIRE(rig.world.step());
  rig.world.run_for(milliseconds(1));
  const TimePoint asked = rig.world.now();
  token.cancel();
  rig.world.run_until_idle();
  BOOST_TEST_REQUIRE(outcome->has_value());
  BOOST_TEST(((**outcome).error().code() == Errc::kCancelled), text_of(**outcome));
  BOOST_TEST((read->ended() - asked <= milliseconds(1)));
  // The question may have been heard all the same, or not.
  BOOST_TEST(rig.owner.releases == 1U);
  BOOST_TEST(rig.complaint(*read, **outcome).value_or("") == "");
}

BOOST_AUTO_TEST_CASE(a_cancel_takes_one_round_trip_and_what_is_in_flight) {
  constexpr auto kRoundTrip = milliseconds(10);
  std::vector<RailPlan> rails(2);
  for (RailPlan& rail : rails) {
    rail.window.bytes = 256 * kKiB;
    rail.options.link.bytes_per_second = 125'000'000;
  }
  const auto window_time = std::chrono::microseconds(2098);
  int while_landing = 0;
  int while_confirming = 0;
  for (int instant = 1; instant < 20; ++instant) {
    ReadRig rig(HeldShape{}, rails, 4);
    rig.owner.release_answer = OwnerAnswer(ok_result(), kRoundTrip);
    rig.owner.confirm_answer = OwnerAnswer(ok_result(), kRoundTrip);
    ReadRequest request = rig.request();
    CancelToken token = request.cancel;
    const auto read = rig.make(std::move(request));
    const auto outcome = rig.world.start(read->run());
    rig.world.run_for(milliseconds(instant));
    if (outcome->has_value()) break;
    ++(rig.owner.confirms == 0 ? while_landing : while_confirming);
    const TimePoint asked = rig.world.now();
    token.cancel();
    rig.world.run_until_idle();
    BOOST_TEST_REQUIRE(outcome->has_value());
    BOOST_TEST((read->ended() - asked <= kRoundTrip + 2 * window_time + milliseconds(5)));
  }
  BOOST_TEST(while_landing > 0);
  BOOST_TEST(while_confirming > 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
