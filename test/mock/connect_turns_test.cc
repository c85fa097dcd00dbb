#include <fmt/core.h>

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/rail/mock/mock_transport.h"
#include "engine/rail/rail.h"
#include "test/support/held_blocks.h"
#include "test/support/virtual_world.h"

// Rails of one node that connect at the same time, and those among them that never will.

namespace corail::test {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;
namespace data = boost::unit_test::data;

constexpr std::size_t kDeadRails = 40;

/// A node's rails to its peers; a path that takes an hour is dead.
class Node {
 public:
  Node() : held_(HeldShape{}, 1), holder_(net_, "a") {
    BOOST_TEST_REQUIRE(holder_.open().ok());
    endpoint_ = holder_.admit_session(SessionId(1), ChannelToken{}, held_);
    options_.connects = std::make_shared<ConnectLimit>();
  }
  ~Node() {
    for (const auto& rail : rails_) BOOST_TEST(world.run(rail->close()).ok());
    world.settle();
  }
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  /// Dead ones, dealt out over so many peers.
  void add_dead_rails(std::size_t peers) {
    std::vector<std::uint64_t> numbers(peers);
    for (std::uint64_t& number : numbers) number = options_.connects->add_peer();
    options_.port = nullptr;
    for (std::size_t i = 0; i < kDeadRails; ++i) {
      options_.connects_peer = numbers[i % peers];
      dead_connects_.push_back(connect(add(hours(1), {}), hours(1)));
    }
  }
  Rail& add_healthy_rail(std::vector<FaultScript> scripts) {
    options_.connects_peer = options_.connects->add_peer();
    options_.port = port;
    return add(milliseconds(1), std::move(scripts));
  }
  VirtualWorld::Outcome<Result<void>> connect(Rail& rail, Duration patience = seconds(9)) {
    return world.start(rail.connect(endpoint_, world.now() + patience));
  }
  void unplug_and_plug() {
    for (const bool active : {false, true}) port->event(active);
  }

  VirtualWorld world;
  std::shared_ptr<PortHealth> port = std::make_shared<PortHealth>();  // the healthy rail's

 private:
  /// `scripts` are for its generations, in turn.
  Rail& add(Duration latency, std::vector<FaultScript> scripts) {
    MockOptions mock;
    mock.link.latency = latency;
    const auto made = std::make_shared<std::size_t>(0);
    Rail::MakeTransport make = [this, mock, made, scripts = std::move(scripts)] {
      FaultScript script = *made < scripts.size() ? scripts[*made] : FaultScript();
      ++*made;
      return std::make_unique<MockTransport>(world.executor(), world.clock(), random_, net_, mock,
                                             std::move(script));
    };
    rails_.push_back(std::make_unique<Rail>(fmt::format("mock{}", rails_.size()), world.executor(),
                                            world.clock(), std::move(make), RailWindow(),
                                            options_));
    return *rails_.back();
  }

  SeededRandom random_{1};
  HeldBlocks held_;
  MockNet net_;
  MockHolder holder_;
  RailEndpoint endpoint_;
  RailOptions options_;
  std::vector<std::unique_ptr<Rail>> rails_;
  std::vector<VirtualWorld::Outcome<Result<void>>> dead_connects_;
};

BOOST_AUTO_TEST_SUITE(connect_turns)

BOOST_DATA_TEST_CASE(dead_peers_starve_no_rail_that_comes_back, data::make({1, 5, 40}), peers) {
  Node node;
  Rail& rail = node.add_healthy_rail({});
  const auto connected = node.connect(rail);
  node.world.run_for(seconds(1));
  BOOST_TEST_REQUIRE(connected->has_value());
  BOOST_TEST((**connected).ok());
  node.add_dead_rails(static_cast<std::size_t>(peers));
  node.world.run_for(seconds(60));
  for (int i = 0; i < 20; ++i) {
    node.unplug_and_plug();
    // Between two generations lies the gap of rebuilding.
    node.world.run_for(milliseconds(150));
    BOOST_TEST((rail.status().state == RailState::kReady), "after " << i);
    node.world.run_for(milliseconds(777));
  }
  BOOST_TEST(rail.health().faults() == 0U);
}

BOOST_AUTO_TEST_CASE(one_dead_peer_leaves_turns_to_the_first_connects_of_others) {
  Node node;
  node.add_dead_rails(1);
  const auto connected = node.connect(node.add_healthy_rail({}));
  node.world.run_for(milliseconds(2));
  BOOST_TEST_REQUIRE(connected->has_value());
  BOOST_TEST((**connected).ok());
}

/// Nobody knows yet who is dead: whoever comes last waits for three rounds, longer than its
/// caller, and keeps its place.
BOOST_AUTO_TEST_CASE(a_place_in_the_queue_outlasts_the_callers_patience) {
  Node node;
  node.add_dead_rails(kDeadRails);
  Rail& rail = node.add_healthy_rail({});
  const auto connected = node.connect(rail);
  node.world.run_for(milliseconds(10'001));
  BOOST_TEST_REQUIRE(connected->has_value());
  BOOST_TEST(((**connected).error().code() == Errc::kDeadline));
  BOOST_TEST(rail.health().faults() == 0U);
  node.world.run_for(milliseconds(10));
  BOOST_TEST((rail.status().state == RailState::kReady));
}

BOOST_AUTO_TEST_CASE(a_rail_that_never_connected_goes_on_trying) {
  Node node;
  const auto down = FaultScript().add(Fault(FaultKind::kNoConnect, 0));
  Rail& rail = node.add_healthy_rail({down, down});
  const auto connected = node.connect(rail);
  node.world.run_for(milliseconds(50));
  BOOST_TEST_REQUIRE(connected->has_value());
  BOOST_TEST(((**connected).error().code() == Errc::kConnectFailed));
  BOOST_TEST(!rail.known());
  BOOST_TEST(rail.status().why.find("could not connect") != std::string::npos, rail.status().why);
  node.world.run_for(seconds(1));
  BOOST_TEST((rail.status().state == RailState::kReady));
  BOOST_TEST(rail.known());
  BOOST_TEST(rail.capabilities().max_slices == MockOptions().max_slices);
  BOOST_TEST(rail.health().faults() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
