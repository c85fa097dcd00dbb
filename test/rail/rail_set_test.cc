#include "engine/rail/rail_set.h"

#include <asio/io_context.hpp>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/units.h"
#include "engine/exec/executor.h"
#include "engine/rail/tcp/data_frame.h"
#include "test/rail/memory_gate.h"
#include "test/rail/run_task.h"

namespace corail::test {
namespace {

/// Ports of this host on one thread, and a door to connect to.
struct Ports {
  explicit Ports(const std::vector<std::string>& specs) : executor("ports", context) {
    for (const std::string& text : specs) {
      const PortIndex index(static_cast<std::uint32_t>(ports.size()));
      auto port = Port::make(index, *parse_rail_spec(text), executor, clock, PortOptions());
      BOOST_TEST_REQUIRE(port.ok());
      ports.push_back(std::move(*port));
    }
  }
  ~Ports() { executor.stop(); }

  TimePoint soon() const { return clock.now() + std::chrono::seconds(30); }

  asio::io_context context;
  SteadyClock clock;
  Executor executor;
  std::vector<std::unique_ptr<Port>> ports;
};

RailWindow large_window() {
  RailWindow window;
  window.bytes = 4 * kGiB;
  window.max_slice_bytes = kGiB;
  return window;
}

RailEndpoint endpoint_of(std::string transport, std::string address, std::uint16_t port) {
  RailEndpoint endpoint;
  endpoint.transport = std::move(transport);
  endpoint.address = std::move(address);
  endpoint.port = port;
  return endpoint;
}

Task<void> open_and_look(Ports& host, std::uint64_t& most, std::vector<std::string>& names) {
  MemoryGate gate(kMiB);
  const auto door = host.ports[0]->make_door();
  const auto opened = door->open();
  BOOST_TEST(opened.ok());
  ChannelToken token{};
  token[0] = 1;
  const RailEndpoint endpoint = door->admit_session(SessionId(1), token, gate);
  RailSet rails;
  BOOST_TEST(rails.max_slice_bytes() == 0U);
  std::vector<RailEndpoint> remotes(1, endpoint);
  const auto connected = co_await rails.open(host.ports, std::move(remotes), large_window(),
                                             RailOptions(), host.soon());
  BOOST_TEST(connected.ok());
  most = rails.max_slice_bytes();
  names = rails.names();
  co_await rails.close();
  co_await door->close();
}

Task<void> fail_to_open(Ports& host, std::vector<RailEndpoint> remotes, Error& why) {
  RailSet rails;
  const auto opened = co_await rails.open(host.ports, std::move(remotes), large_window(),
                                          RailOptions(), host.soon());
  BOOST_TEST(!opened.ok());
  if (!opened.ok()) why = opened.error();
  BOOST_TEST(rails.rails().empty());
}

/// One of two ends refuses; `down` is what its rail says of itself.
Task<void> open_half(Ports& host, std::string& down, std::uint64_t& most) {
  MemoryGate gate(kMiB);
  const auto door = host.ports[0]->make_door();
  const auto listening = door->open();
  BOOST_TEST(listening.ok());
  std::vector<RailEndpoint> remotes(2, door->admit_session(SessionId(1), ChannelToken{}, gate));
  remotes[1].port = 1;
  RailSet rails;
  const auto opened = co_await rails.open(host.ports, std::move(remotes), large_window(),
                                          RailOptions(), host.soon());
  BOOST_TEST(opened.ok());
  BOOST_TEST(rails.rails().size() == 2U);
  most = rails.max_slice_bytes();
  for (const auto& rail : rails.rails()) {
    const RailStatus status = rail->status();
    if (status.state != RailState::kReady) down += rail->name() + ": " + status.why;
  }
  co_await rails.close();
  co_await door->close();
}

BOOST_AUTO_TEST_SUITE(rail_set)

BOOST_AUTO_TEST_CASE(one_rail_that_connects_is_enough) {
  Ports host({"tcp:127.0.0.1", "tcp:127.0.0.2"});
  std::string down;
  std::uint64_t most = 0;
  run_task(host.context, open_half(host, down, most));
  BOOST_TEST(most == kMaxReadBytes);
  BOOST_TEST(down.find("tcp:127.0.0.2>127.0.0.1:1: it could not connect") == 0U, down);
}

BOOST_AUTO_TEST_CASE(when_none_connects_the_error_names_them_all) {
  Ports host({"tcp:127.0.0.1", "tcp:127.0.0.2"});
  Error why;
  run_task(
      host.context,
      fail_to_open(host, std::vector<RailEndpoint>(2, endpoint_of("tcp", "127.0.0.1", 1)), why));
  BOOST_TEST((why.code() == Errc::kConnectFailed), why.to_string());
  BOOST_TEST(why.rail() == "tcp:127.0.0.1>127.0.0.1:1");
  for (const char* part :
       {"none of the 2 rails", "tcp:127.0.0.1>127.0.0.1:1: ", "tcp:127.0.0.2>127.0.0.1:1: "}) {
    BOOST_TEST(why.detail().find(part) != std::string::npos, why.detail());
  }
}

BOOST_AUTO_TEST_CASE(no_slice_is_larger_than_the_transport_takes) {
  Ports host({"tcp:127.0.0.1", "tcp:127.0.0.2"});
  std::uint64_t most = 0;
  std::vector<std::string> names;
  run_task(host.context, open_and_look(host, most, names));
  BOOST_TEST(most == kMaxReadBytes);
  BOOST_TEST_REQUIRE(names.size() == 2U);
  BOOST_TEST(names[1].find("tcp:127.0.0.2>127.0.0.1:") == 0U, names[1]);
}

BOOST_AUTO_TEST_CASE(ends_of_different_transports_make_no_rail) {
  Ports host({"tcp:127.0.0.1", "tcp:127.0.0.2"});
  Error why;
  std::vector<RailEndpoint> remotes{endpoint_of("tcp", "127.0.0.1", 1),
                                    endpoint_of("verbs", "fe80::1", 2)};
  run_task(host.context, fail_to_open(host, std::move(remotes), why));
  BOOST_TEST((why.code() == Errc::kIncompatible), why.to_string());
  BOOST_TEST(why.rail() == "tcp:127.0.0.2>[fe80::1]:2");
  for (const char* part : {"'tcp'", "'verbs'", "tcp:127.0.0.1:1, verbs:[fe80::1]:2"}) {
    BOOST_TEST(why.detail().find(part) != std::string::npos, why.detail());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
