// What a real device tells of its port, and what a rail makes of it.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "engine/rail/rail.h"
#include "test/softroce/device_rig.h"

namespace corail::test {
namespace {

/// For an emulated machine; a condition that never comes fails then.
constexpr Duration kPatience = std::chrono::seconds(20);

void set_port(const char* state) {
  const std::string command = std::string("ip link set ve0 ") + state;
  BOOST_TEST_REQUIRE(std::system(command.c_str()) == 0);
}

Task<void> open_rail(Rail* rail, RailEndpoint endpoint, TimePoint deadline) {
  const auto connected = co_await rail->connect(std::move(endpoint), deadline);
  BOOST_TEST_REQUIRE(connected.ok(), (connected.ok() ? "" : connected.error().to_string()));
}

Task<void> close_rail(Rail* rail) {
  const auto closed = co_await rail->close();
  BOOST_TEST(closed.ok());
}

bool comes_to(DeviceRig& rig, const Rail& rail, RailState state) {
  const TimePoint until = rig.clock.now() + kPatience;
  while (rail.status().state != state && rig.clock.now() < until) {
    rig.run_for(std::chrono::milliseconds(20));
  }
  return rail.status().state == state;
}

BOOST_AUTO_TEST_SUITE(port_events)

BOOST_AUTO_TEST_CASE(an_idle_rail_goes_down_with_its_port_and_comes_back_with_it) {
  DeviceRig rig("rxe0");
  RailOptions options;
  options.port = rig.port->health();
  RailWindow window;
  window.bytes = window.max_slice_bytes = kMiB;
  auto rail = std::make_unique<Rail>(
      "it", rig.executor.asio_executor(), rig.clock,
      [&rig] { return std::make_unique<VerbsTransport>(rig.port, rig.clock); }, window, options);
  rig.run(open_rail(rail.get(), rig.endpoint, rig.clock.now() + kPatience));
  for (std::uint64_t downs = 1; downs <= 3; ++downs) {
    set_port("down");
    BOOST_TEST(comes_to(rig, *rail, RailState::kClosed), rail->status().why);
    set_port("up");
    BOOST_TEST(comes_to(rig, *rail, RailState::kReady), rail->status().why);
    BOOST_TEST(rig.port->health()->faults() == downs);
  }
  rig.run(close_rail(rail.get()));
  rail.reset();
  // What it is built of works.
  auto fresh = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  const auto slices = rig.slices(kMiB, 64 * kKiB);
  fresh->post(kRead, slices, sink);
  rig.run(sink.outcomes(slices.size()));
  BOOST_TEST(sink.count(Errc::kUnset) == slices.size(), sink.first_detail());
  BOOST_TEST(rig.landed(kMiB));
  rig.close(std::move(fresh));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
