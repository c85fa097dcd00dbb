#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "test/read/fake_rail.h"
#include "test/read/lossy_rails.h"

// Reads and rails that are lost, return and flap.

namespace corail::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
namespace data = boost::unit_test::data;

BOOST_AUTO_TEST_SUITE(rail_loss)

BOOST_AUTO_TEST_CASE(a_rail_that_was_cut_returns) {
  ReadRig rig(large_shape(), rails(1, cut_at(2), 125'000'000), 1);
  const auto first = rig.make(rig.request());
  check_failed(rig.finish(*first), Errc::kConnectionLost);
  // At once it is not there yet, and the read does not even ask for slices.
  const auto second = rig.make(rig.request());
  const auto result = rig.finish(*second);
  check_failed(result, Errc::kConnectionLost);
  BOOST_TEST(result.error().detail().find("mock0: ") != std::string::npos, text_of(result));
  BOOST_TEST(result.error().detail().find("breaker closed") != std::string::npos);
  BOOST_TEST(second->report().reads_posted == 0U);
  rig.world.run_for(milliseconds(200));
  const auto third = rig.make(rig.request());
  const auto committed = rig.finish(*third);
  BOOST_TEST(committed.ok(), text_of(committed));
  BOOST_TEST(rig.rails.generations(0) == 2U);
  BOOST_TEST(rig.rails.rail(0).health().faults() == 1U);
  BOOST_TEST(rig.complaint(*third, committed).value_or("") == "");
}

BOOST_AUTO_TEST_CASE(a_read_is_not_disturbed_by_a_rail_that_returns) {
  auto plans = rails(3, cut_at(0), 10'000'000);
  plans[1].rail_options.health.rebuild_gap = milliseconds(150);
  ReadRig rig(large_shape(), std::move(plans), 1);
  const auto first = rig.make(rig.request());
  check_failed(rig.finish(*first), Errc::kConnectionLost);
  BOOST_TEST((rig.rails.rail(1).status().state != RailState::kReady));
  const auto second = rig.make(rig.request());
  const auto result = rig.finish(*second);
  BOOST_TEST(result.ok(), text_of(result));
  // It had returned long before the end.
  BOOST_TEST((rig.rails.rail(1).status().state == RailState::kReady));
  const auto& report = second->report().rails;
  BOOST_TEST_REQUIRE(report.size() == 3U);
  BOOST_TEST(report[1].name == "mock1");
  BOOST_TEST(report[1].reads == 0U);
  BOOST_TEST(report[1].down.find("nobody here gave them up") != std::string::npos, report[1].down);
  for (const std::size_t used : {0, 2}) {
    BOOST_TEST(report[used].down == "");
    BOOST_TEST(report[used].bytes > 0U);
  }
  BOOST_TEST(rig.complaint(*second, result).value_or("") == "");
}

BOOST_AUTO_TEST_CASE(without_any_rail_the_error_names_all_of_them) {
  auto plans = rails(2, cut_at(0), 125'000'000);
  plans[0].faults = cut_at(0);
  for (RailPlan& plan : plans) plan.rebuilt = false;
  ReadRig rig(large_shape(), std::move(plans), 1);
  const auto first = rig.make(rig.request());
  check_failed(rig.finish(*first), Errc::kConnectionLost);
  rig.world.run_until_idle();
  const auto second = rig.make(rig.request());
  const auto result = rig.finish(*second);
  check_failed(result, Errc::kConnectionLost);
  for (const char* part : {"none of the 2 rails", "mock0: ", "mock1: ", "check the link"}) {
    BOOST_TEST(result.error().detail().find(part) != std::string::npos, text_of(result));
  }
  for (const RailReport& rail : second->report().rails) BOOST_TEST(rail.down != "");
  BOOST_TEST(rig.owner.releases == 2U);
}

BOOST_AUTO_TEST_CASE(a_rail_that_flaps_opens_its_breaker) {
  auto plans = rails(1, cut_at(3), 125'000'000);
  plans[0].later = {cut_at(3), cut_at(3)};
  ReadRig rig(large_shape(), std::move(plans), 1);
  for (int i = 0; i < 3; ++i) {
    const auto read = rig.make(rig.request());
    check_failed(rig.finish(*read), Errc::kConnectionLost);
    rig.world.run_for(milliseconds(300));
  }
  // Not tried again before the back-off is over.
  const auto refused = rig.make(rig.request());
  const auto result = rig.finish(*refused);
  check_failed(result, Errc::kConnectionLost);
  BOOST_TEST(result.error().detail().find("breaker open") != std::string::npos, text_of(result));
  BOOST_TEST(rig.rails.generations(0) == 3U);
  rig.world.run_for(seconds(1));
  BOOST_TEST((rig.rails.rail(0).status().state == RailState::kReady));
  BOOST_TEST((rig.rails.rail(0).status().breaker == BreakerState::kHalfOpen));
  const auto probe = rig.make(rig.request());
  const auto outcome = rig.world.start(probe->run());
  rig.world.run_for(milliseconds(1));
  // One slice is the probe, whatever the window allows.
  BOOST_TEST(rig.rails.transport(0).counters().posted == 1U);
  rig.world.run_until_idle();
  BOOST_TEST_REQUIRE(outcome->has_value());
  BOOST_TEST((**outcome).ok(), text_of(**outcome));
  BOOST_TEST((rig.rails.rail(0).status().breaker == BreakerState::kClosed));
  BOOST_TEST(rig.complaint(*probe, **outcome).value_or("") == "");
}

BOOST_AUTO_TEST_CASE(what_the_holder_refuses_opens_no_breaker) {
  auto plans = rails(1, script(Fault(FaultKind::kRefuse, 1)), 125'000'000);
  plans[0].later = std::vector<FaultScript>(9, script(Fault(FaultKind::kRefuse, 1)));
  ReadRig rig(large_shape(), std::move(plans), 1);
  for (std::size_t i = 0; i < 10; ++i) {
    const auto read = rig.make(rig.request());
    check_failed(rig.finish(*read), Errc::kRefused);
    rig.world.run_for(milliseconds(200));
    // It kills the channel each time, which is rebuilt each time.
    BOOST_TEST(rig.rails.generations(0) == i + 2);
  }
  BOOST_TEST(rig.rails.rail(0).health().faults() == 0U);
  BOOST_TEST((rig.rails.rail(0).status().breaker == BreakerState::kClosed));
}

/// A cancel fences what stalls; over a shared fence the other read's slices are flushed as well.
BOOST_DATA_TEST_CASE(our_own_fences_are_no_faults, data::make({false, true}), shared_fence) {
  auto plans = rails(1, script(Fault(FaultKind::kStall, 1)), 125'000'000);
  plans[0].options.shared_fence = shared_fence;
  ReadRig rig(large_shape(), std::move(plans), 1);
  ReadRequest request = rig.request();
  CancelToken token = request.cancel;
  const auto victim = rig.make(std::move(request));
  const auto ended = rig.world.start(victim->run());
  rig.world.run_for(milliseconds(1));
  const auto other = rig.make(rig.request());
  const auto outcome = rig.world.start(other->run());
  rig.world.run_for(milliseconds(1));
  token.cancel();
  rig.world.run_until_idle();
  BOOST_TEST_REQUIRE((ended->has_value() && outcome->has_value()));
  BOOST_TEST((**outcome).ok(), text_of(**outcome));
  BOOST_TEST(rig.rails.transport(0).counters().fences == 1U);
  BOOST_TEST(rig.rails.rail(0).health().faults() == 0U);
  BOOST_TEST(rig.rails.generations(0) == 1U);
}

/// A flush that nobody here asked for, by a device that seems well otherwise.
BOOST_AUTO_TEST_CASE(a_rail_drains_before_it_is_rebuilt) {
  ReadRig rig(large_shape(), {}, 1);
  std::size_t made = 0;
  std::size_t answered = 0;
  std::size_t drained = 0;
  Rail* rail = nullptr;
  const auto answer = [&](const Slice&) -> Result<void> {
    if (++answered == 3) return Error(Errc::kFlushed, "by nobody");
    if (rail->status().state == RailState::kDraining && made == 1) ++drained;
    return ok_result();
  };
  const Rail::MakeTransport make = [&] {
    ++made;
    return std::make_unique<FakeTransport>(rig.world.executor(), answer);
  };
  Rail own("odd", rig.world.executor(), rig.world.clock(), make, RailPlan().window, RailOptions());
  rail = &own;
  BOOST_TEST(rig.world.run(own.connect(RailEndpoint(), rig.world.now())).ok());
  ReadRequest request = rig.request();
  request.rails = {rail};
  request.expectation.reset();
  const auto read = rig.make(std::move(request));
  const auto result = rig.finish(*read);
  BOOST_TEST(result.ok(), text_of(result));
  // All that the read had left, on the channels that it began on.
  BOOST_TEST(drained >= 10U);
  rig.world.run_until_idle();
  BOOST_TEST(made == 2U);
  BOOST_TEST(own.health().faults() == 1U);
  BOOST_TEST((own.status().state == RailState::kReady));
  BOOST_TEST(rig.world.run(own.close()).ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
