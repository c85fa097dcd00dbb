#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/rail/rail.h"
#include "test/support/held_blocks.h"
#include "test/support/mock_rails.h"
#include "test/support/virtual_world.h"

// How a rail comes and goes, without any read on it.

namespace corail::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

FaultScript no_connect() { return FaultScript().add(Fault(FaultKind::kNoConnect, 0)); }

std::shared_ptr<ConnectLimit> one_at_a_time() {
  ConnectLimits limits;
  limits.most = 1;
  return std::make_shared<ConnectLimit>(limits);
}

struct Life {
  explicit Life(RailPlan plan) : held(HeldShape{}, 1), rails(world, held, {std::move(plan)}, 1) {}

  Rail& rail() { return rails.rail(0); }
  RailState state() { return rail().status().state; }

  VirtualWorld world;
  HeldBlocks held;
  MockRails rails;
};

/// A port that can be unplugged.
struct Unplugged {
  explicit Unplugged(RailPlan plan) : life(with(port, std::move(plan))) {}

  static RailPlan with(const std::shared_ptr<PortHealth>& port, RailPlan plan) {
    plan.rebuilt = true;
    plan.rail_options.port = port;
    return plan;
  }
  void event(bool active) { port->event(active); }

  std::shared_ptr<PortHealth> port = std::make_shared<PortHealth>();
  Life life;
};

BOOST_AUTO_TEST_SUITE(rail_life)

BOOST_AUTO_TEST_CASE(a_port_that_goes_down_takes_its_rails_with_it_and_brings_them_back) {
  Unplugged it{RailPlan()};
  BOOST_TEST((it.life.state() == RailState::kReady));
  it.event(false);
  it.event(false);
  BOOST_TEST((it.life.state() == RailState::kDraining));
  it.life.world.run_for(seconds(100));
  BOOST_TEST((it.life.state() == RailState::kClosed));
  BOOST_TEST(it.life.rail().status().why.find("port is down") != std::string::npos);
  BOOST_TEST(it.life.rails.generations(0) == 1U);
  it.event(true);
  it.life.world.run_for(milliseconds(1));
  BOOST_TEST((it.life.state() == RailState::kReady));
  BOOST_TEST(it.life.rail().health().faults() == 0U);
  BOOST_TEST(it.port->faults() == 1U);
}

BOOST_AUTO_TEST_CASE(connects_that_fail_open_the_breaker_and_the_probe_closes_it_not_by_itself) {
  RailPlan plan;
  plan.later = {no_connect(), no_connect(), no_connect()};
  Unplugged it(std::move(plan));
  const TimePoint begin = it.life.world.now();
  it.event(false);
  it.event(true);
  // At 100 ms, 200 ms and 400 ms: then the breaker is open for a second.
  it.life.world.run_for(milliseconds(1300));
  BOOST_TEST(it.life.rails.generations(0) == 4U);
  BOOST_TEST((it.life.rail().status().breaker == BreakerState::kOpen ||
              it.life.rail().health().breaker() == BreakerState::kOpen));
  BOOST_TEST(it.life.rail().status().why.find("link is down") != std::string::npos);
  it.life.world.run_until(begin + seconds(2));
  BOOST_TEST(it.life.rails.generations(0) == 5U);
  BOOST_TEST((it.life.state() == RailState::kReady));
  BOOST_TEST((it.life.rail().status().breaker == BreakerState::kHalfOpen));
}

BOOST_AUTO_TEST_CASE(a_rail_that_rests_closes_at_once) {
  RailPlan plan;
  plan.later = std::vector<FaultScript>(20, no_connect());
  Unplugged it(std::move(plan));
  it.event(false);
  it.event(true);
  it.life.world.run_for(seconds(20));
  BOOST_TEST((it.life.state() == RailState::kClosed));
  const TimePoint begin = it.life.world.now();
  BOOST_TEST(it.life.world.run(it.life.rail().close()).ok());
  BOOST_TEST((it.life.world.now() == begin));
}

BOOST_AUTO_TEST_CASE(a_rail_that_is_connecting_closes_too) {
  RailPlan plan;
  plan.options.link.latency = seconds(3);
  Unplugged it(std::move(plan));
  it.event(false);
  it.event(true);
  it.life.world.run_for(seconds(1));
  BOOST_TEST((it.life.state() == RailState::kConnecting));
  BOOST_TEST(it.life.world.run(it.life.rail().close()).ok());
  it.life.world.run_until_idle();
  BOOST_TEST((it.life.state() == RailState::kClosed));
}

BOOST_AUTO_TEST_CASE(whoever_waits_for_a_turn_to_connect_does_not_wait_for_ever) {
  RailPlan plan;
  plan.rail_options.connects = one_at_a_time();
  Unplugged it(plan);
  auto turn = plan.rail_options.connects->ask(ConnectRequest(), [] {});
  it.event(false);
  it.event(true);
  it.life.world.run_for(seconds(1));
  BOOST_TEST((it.life.state() == RailState::kClosed));
  turn.reset();
  it.life.world.run_for(milliseconds(1));
  BOOST_TEST((it.life.state() == RailState::kReady));
  turn = plan.rail_options.connects->ask(ConnectRequest(), [] {});
  it.event(false);
  it.event(true);
  it.life.world.run_for(seconds(1));
  const TimePoint begin = it.life.world.now();
  BOOST_TEST(it.life.world.run(it.life.rail().close()).ok());
  BOOST_TEST((it.life.world.now() == begin));
}

/// Nobody's path is at fault while others connect, however long that takes.
BOOST_AUTO_TEST_CASE(waiting_for_a_turn_is_no_fault_and_takes_nothing_of_the_connects_time) {
  RailPlan plan;
  plan.options.link.latency = milliseconds(50);
  plan.rail_options.connects = one_at_a_time();
  Unplugged it(plan);
  for (const Duration held : {Duration(milliseconds(4990)), Duration(seconds(60))}) {
    auto turn = plan.rail_options.connects->ask(ConnectRequest(), [] {});
    it.event(false);
    it.event(true);
    it.life.world.run_for(held);
    BOOST_TEST((it.life.state() == RailState::kClosed));
    turn.reset();
    it.life.world.run_for(milliseconds(51));
    BOOST_TEST((it.life.state() == RailState::kReady));
    BOOST_TEST(it.life.rail().health().faults() == 0U);
  }
  BOOST_TEST(it.life.rails.generations(0) == 3U);
}

BOOST_AUTO_TEST_CASE(a_port_that_is_down_keeps_no_turn) {
  RailPlan plan;
  plan.options.link.latency = milliseconds(50);
  plan.rail_options.connects = one_at_a_time();
  Unplugged it(plan);
  auto turn = plan.rail_options.connects->ask(ConnectRequest(), [] {});
  it.event(false);
  it.event(true);
  it.life.world.run_for(seconds(1));
  it.event(false);
  turn.reset();
  it.life.world.run_for(milliseconds(1));
  BOOST_TEST(plan.rail_options.connects->connecting() == 0U);
  BOOST_TEST((it.life.state() == RailState::kClosed));
  BOOST_TEST(it.life.rails.generations(0) == 2U);
  it.event(true);
  it.life.world.run_for(milliseconds(200));
  BOOST_TEST((it.life.state() == RailState::kReady));
}

BOOST_AUTO_TEST_CASE(a_port_that_drops_while_the_rail_connects_leaves_it_down) {
  RailPlan plan;
  plan.options.link.latency = milliseconds(50);
  Unplugged it(std::move(plan));
  it.event(false);
  it.event(true);
  // Half of the gap between two generations has passed while the first one connected.
  it.life.world.run_for(milliseconds(70));
  BOOST_TEST((it.life.state() == RailState::kConnecting));
  it.event(false);
  it.life.world.run_for(seconds(1));
  BOOST_TEST((it.life.state() == RailState::kClosed));
  BOOST_TEST(it.life.rail().status().why.find("port is down") != std::string::npos,
             it.life.rail().status().why);
  BOOST_TEST(it.life.rail().health().faults() == 0U);
  it.event(true);
  it.life.world.run_for(seconds(1));
  BOOST_TEST((it.life.state() == RailState::kReady));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
