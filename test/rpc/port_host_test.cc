// Doors that are opened when the first session wants in.
#include "rpc/port_host.h"

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/exec/event.h"
#include "engine/exec/executor.h"
#include "engine/rail/port.h"
#include "test/support/virtual_world.h"

namespace corail::test {
namespace {

/// What the doors of a test do, and did.
struct DoorScript {
  explicit DoorScript(const asio::any_io_executor& executor) : go_on(executor) {}

  std::size_t fails = 1;    // which one cannot be bound
  bool holds_close = true;  // a door that closes waits for go_on
  Event go_on;
  int closed = 0;
};

class ScriptedDoor final : public RailDoor {
 public:
  ScriptedDoor(DoorScript& script, std::size_t which) : script_(script), which_(which) {}

  Result<void> open() override {
    if (which_ != script_.fails) return ok_result();
    return Error(Errc::kConnectFailed, "the address is taken");
  }
  RailEndpoint admit_session(SessionId /*session*/, ChannelToken token,
                             LeaseGate& /*gate*/) override {
    RailEndpoint endpoint;
    endpoint.token = token;
    return endpoint;
  }
  Task<void> drop_session(SessionId /*session*/) override { co_return; }
  Task<void> close() override {
    while (script_.holds_close) {
      co_await script_.go_on.wait();
    }
    ++script_.closed;
  }

 private:
  DoorScript& script_;
  const std::size_t which_;
};

class ScriptedDevice final : public PortDevice {
 public:
  ScriptedDevice(DoorScript& script, std::size_t which) : script_(script), which_(which) {}

  std::string_view transport() const noexcept override { return "scripted"; }
  std::unique_ptr<Transport> make_transport() const override { return nullptr; }
  std::unique_ptr<RailDoor> make_door() const override {
    return std::make_unique<ScriptedDoor>(script_, which_);
  }

 private:
  DoorScript& script_;
  const std::size_t which_;
};

class ClosedGate final : public LeaseGate {
 public:
  Result<PinnedBytes> admit(SessionId /*session*/, ReadContext /*context*/, RegionId /*region*/,
                            std::uint64_t /*offset*/, std::uint64_t /*length*/) override {
    return Error(Errc::kRefused, "nothing is served here");
  }
};

Task<bool> drop_from(PortHost* host, SessionId session) {
  co_await host->drop(session);
  co_return true;
}

Task<bool> close_host(PortHost* host) {
  co_await host->close();
  co_return true;
}

BOOST_AUTO_TEST_SUITE(port_host)

BOOST_AUTO_TEST_CASE(doors_that_are_not_all_open_are_nobodys) {
  VirtualWorld world;
  DoorScript script(world.executor());
  Executor executor("port", world.context());
  std::vector<std::unique_ptr<Port>> ports;
  for (std::uint32_t i = 0; i < 2; ++i) {
    ports.push_back(Port::over(PortIndex(i), "port", executor, world.clock(),
                               std::make_unique<ScriptedDevice>(script, i)));
  }
  ClosedGate gate;
  SystemRandom random;
  PortHost host(world.executor(), ports, &gate, random);

  const auto admitted = world.start(host.admit(SessionId(1)));
  world.settle();
  // The first door is being closed again. Meanwhile a session ends, and another greets early.
  BOOST_TEST(!admitted->has_value());
  BOOST_TEST(world.run(drop_from(&host, SessionId(2))));
  const auto greeted = world.run(host.greet(SessionId(1), 0, "hello"));
  BOOST_TEST((!greeted.ok() && greeted.error().code() == Errc::kInvalidArgument));
  script.holds_close = false;
  script.go_on.notify();
  world.settle();
  BOOST_REQUIRE(admitted->has_value());
  BOOST_TEST((!(*admitted)->ok() && (*admitted)->error().code() == Errc::kConnectFailed));
  BOOST_TEST(script.closed == 2);

  // The address is free by now.
  script.fails = 2;
  const auto again = world.run(host.admit(SessionId(1)));
  BOOST_REQUIRE(again.ok());
  BOOST_TEST(again->size() == 2U);
  BOOST_TEST(world.run(close_host(&host)));
  BOOST_TEST(script.closed == 4);
  executor.stop();
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
