// What a port makes of the events that its device tells.
#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <string>
#include <utility>

#include "engine/rail/rail.h"
#include "test/verbs/verbs_rig.h"

namespace corail::test {
namespace {

class CountingListener final : public PortListener {
 public:
  void port_changed() override { ++changes; }
  int changes = 0;
};

Task<void> connect_rail(Rail* rail, RailEndpoint endpoint, TimePoint deadline) {
  const auto connected = co_await rail->connect(std::move(endpoint), deadline);
  BOOST_TEST_REQUIRE(connected.ok(), (connected.ok() ? "" : connected.error().to_string()));
}

Task<void> close_it(Rail* rail) {
  const auto closed = co_await rail->close();
  BOOST_TEST(closed.ok());
}

/// A rail that looks after itself, over the scripted port.
struct LivingRail {
  explicit LivingRail(VerbsRig& of) : rig(of) {
    RailOptions options;
    options.port = rig.port->health();
    // So that the test need not wait for it.
    options.health.rebuild_gap = std::chrono::milliseconds(1);
    RailWindow window;
    window.bytes = 64 * kKi;
    window.max_slice_bytes = kKi;
    rail = std::make_unique<Rail>(
        "it", rig.executor.asio_executor(), rig.clock, [this] { return rig.make_rail(); }, window,
        options);
    rig.run(connect_rail(rail.get(), rig.endpoint, rig.soon()));
  }
  ~LivingRail() {
    rig.run(close_it(rail.get()));
    rail.reset();
  }
  LivingRail(const LivingRail&) = delete;
  LivingRail& operator=(const LivingRail&) = delete;

  RailState state() const { return rail->status().state; }
  /// Numbers of its queue pairs.
  std::vector<std::uint32_t> pairs() {
    std::vector<std::uint32_t> numbers;
    for (const auto* pair : rig.asking()) numbers.push_back(pair->base.qp_num);
    return numbers;
  }

  VerbsRig& rig;
  std::unique_ptr<Rail> rail;
};

BOOST_AUTO_TEST_SUITE(port_events)

BOOST_AUTO_TEST_CASE(a_change_is_told_once_however_often_the_device_repeats_it) {
  VerbsRig rig;
  CountingListener listener;
  const auto health = rig.port->health();
  health->add_listener(listener);
  for (int i = 0; i < 3; ++i) rig.machine.tell("a", IBV_EVENT_PORT_ERR);
  rig.run_until([&] { return !health->active(); });
  rig.machine.tell("a", IBV_EVENT_PORT_ERR);
  for (int i = 0; i < 2; ++i) rig.machine.tell("a", IBV_EVENT_PORT_ACTIVE);
  rig.run_until([&] { return health->active(); });
  BOOST_TEST(listener.changes == 2);
  BOOST_TEST(health->faults() == 1U);
  health->remove_listener(listener);
  rig.machine.tell("a", IBV_EVENT_PORT_ERR);
  rig.run_until([&] { return !health->active(); });
  BOOST_TEST(listener.changes == 2);
}

BOOST_AUTO_TEST_CASE(events_of_other_ports_and_of_other_kinds_change_nothing) {
  VerbsRig rig;
  const auto health = rig.port->health();
  CountingListener listener;
  health->add_listener(listener);
  rig.machine.tell("a", IBV_EVENT_PORT_ERR, 2);
  rig.machine.tell("a", IBV_EVENT_PORT_ACTIVE, 2);
  rig.machine.tell("a", IBV_EVENT_GID_CHANGE);
  rig.machine.tell("a", IBV_EVENT_SM_CHANGE);
  rig.machine.tell("a", IBV_EVENT_PORT_ERR);
  rig.run_until([&] { return listener.changes > 0; });
  BOOST_TEST(listener.changes == 1);
  rig.machine.tell("a", IBV_EVENT_PORT_ACTIVE, 2);
  rig.machine.tell("a", IBV_EVENT_PORT_ACTIVE);
  rig.run_until([&] { return listener.changes > 1; });
  BOOST_TEST(listener.changes == 2);
  health->remove_listener(listener);
}

BOOST_AUTO_TEST_CASE(a_port_that_comes_back_has_its_queue_pairs_built_anew) {
  VerbsRig rig;
  LivingRail it(rig);
  const auto before = it.pairs();
  BOOST_TEST(before.size() == 2U);
  rig.machine.tell("a", IBV_EVENT_PORT_ERR);
  rig.run_until([&] { return it.state() == RailState::kClosed; });
  BOOST_TEST(it.pairs().empty());
  BOOST_TEST(it.rail->status().why.find("port is down") != std::string::npos);
  for (int i = 0; i < 2; ++i) rig.machine.tell("a", IBV_EVENT_PORT_ACTIVE);
  rig.run_until([&] { return it.state() == RailState::kReady; });
  const auto after = it.pairs();
  BOOST_TEST(after.size() == 2U);
  BOOST_TEST((after != before));
  // The port's fault, and not the rail's.
  BOOST_TEST(it.rail->health().faults() == 0U);
  BOOST_TEST(rig.port->health()->faults() == 1U);
}

BOOST_AUTO_TEST_CASE(a_port_that_is_down_at_first_serves_once_it_is_up) {
  ScriptedVerbs::Port up;
  VerbsRig rig(VerbsOptions(), [&up](auto& device) {
    up = device.ports[0];
    device.ports[0].attributes.state = IBV_PORT_DOWN;
    device.ports[0].gids.clear();
  });
  BOOST_TEST(!rig.port->health()->active());
  rig.machine.port_of("a") = up;
  rig.machine.tell("a", IBV_EVENT_PORT_ACTIVE);
  rig.run_until([&] { return rig.port->health()->active(); });
  auto rail = rig.connected();
  BOOST_TEST(rig.port->address() == "10.77.0.1");
  close_rail(rig, std::move(rail));
}

BOOST_AUTO_TEST_CASE(rails_whose_address_is_gone_are_built_anew) {
  VerbsRig rig;
  LivingRail it(rig);
  const auto before = it.pairs();
  rig.machine.port_of("a").gids[1].gid.raw[15] = 99;
  rig.machine.tell("a", IBV_EVENT_GID_CHANGE, 2);
  rig.machine.tell("a", IBV_EVENT_GID_CHANGE);
  rig.run_until([&] { return it.state() != RailState::kReady; });
  rig.run_until([&] { return it.state() == RailState::kReady; });
  BOOST_TEST((it.pairs() != before));
  for (const auto* pair : rig.machine.pairs()) {
    BOOST_TEST(pair->attributes.ah_attr.grh.dgid.raw[15] == 99);
  }
  BOOST_TEST(rig.port->health()->faults() == 1U);
}

BOOST_AUTO_TEST_CASE(a_device_whose_events_cannot_be_read_is_asked_no_more) {
  VerbsRig rig;
  LivingRail it(rig);
  rig.machine.errors = {{"get_async_event", EIO}};
  // Its descriptor is readable from now on.
  rig.machine.tell("a", IBV_EVENT_SM_CHANGE);
  rig.run_until([&] { return it.state() == RailState::kClosed; });
  BOOST_TEST(rig.port->fault().has_value());
  const std::size_t asked = rig.machine.calls["get_async_event"];
  for (int i = 0; i < 100; ++i) rig.context.poll();
  BOOST_TEST(rig.machine.calls["get_async_event"] == asked);
  BOOST_TEST(asked <= 2U);
}

BOOST_AUTO_TEST_CASE(a_device_that_is_gone_takes_its_port_with_it_for_good) {
  VerbsRig rig;
  LivingRail it(rig);
  rig.machine.tell("a", IBV_EVENT_DEVICE_FATAL);
  rig.machine.tell("a", IBV_EVENT_DEVICE_FATAL);
  rig.machine.tell("a", IBV_EVENT_PORT_ACTIVE);
  rig.run_until([&] { return it.state() == RailState::kClosed; });
  BOOST_TEST(!rig.port->health()->active());
  const auto described = rig.port->describe();
  BOOST_TEST_REQUIRE(!described.ok());
  BOOST_TEST(described.error().detail().find("restart this process") != std::string::npos,
             described.error().to_string());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
