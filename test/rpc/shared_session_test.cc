// Two nodes that connect to each other have one session, whoever dials when.
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "test/rpc/shared_world.h"

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Holds two connects of nodes 0 and 1 to each other against what they must come to.
struct Outcomes {
  /// Where the connection stays that the one with the smaller identity dialed, and the other one.
  int smaller_won = 0;
  int larger_won = 0;

  void check(SharedWorld& both, const VirtualWorld::Outcome<Connected>& of_0,
             const VirtualWorld::Outcome<Connected>& of_1) {
    SessionClient& to_1 = both.keep(of_0);
    SessionClient& to_0 = both.keep(of_1);
    both.world.run_for(seconds(1));
    BOOST_TEST(both.node(0).server.sessions() == 1U);
    BOOST_TEST(both.node(1).server.sessions() == 1U);
    BOOST_TEST(to_1.found() != to_0.found());
    ++(to_0.found() ? smaller_won : larger_won);
    BOOST_TEST((to_1.holder().node == NodeId(2) && to_0.holder().node == NodeId(1)));
    // Both directions work, and each has its own leases and rails.
    BOOST_TEST((both.open_rails(to_1).ok() && both.open_rails(to_0).ok()));
    BOOST_TEST((both.works(to_1, 1) && both.works(to_0, 1)));
    for (const std::size_t node : {0, 1}) {
      BOOST_TEST(both.node(node).rails.admitted.size() == 1U);
      BOOST_TEST(both.node(node).rails.dropped.empty());
    }
  }
};

BOOST_AUTO_TEST_SUITE(shared_sessions)

BOOST_AUTO_TEST_CASE(two_that_connect_at_once_have_one_session_in_every_order_of_messages) {
  Outcomes outcomes;
  for (int latency_0 = 1; latency_0 <= 4; ++latency_0) {
    for (int latency_1 = 1; latency_1 <= 4; ++latency_1) {
      for (int lead = -34; lead <= 34; ++lead) {
        BOOST_TEST_CONTEXT("latencies " << latency_0 << " and " << latency_1 << " ms, the second "
                                        << lead * 500 << " us after the first") {
          SharedWorld both(2);
          const auto wait = microseconds(500) * std::abs(lead);
          const Duration none{};
          const auto of_0 = both.start(0, 1, lead < 0 ? wait : none, milliseconds(latency_0));
          const auto of_1 = both.start(1, 0, lead < 0 ? none : wait, milliseconds(latency_1));
          both.world.run_for(seconds(1));
          outcomes.check(both, of_0, of_1);
        }
      }
    }
  }
  BOOST_TEST(outcomes.smaller_won > 100);
  BOOST_TEST(outcomes.larger_won > 100);
}

BOOST_AUTO_TEST_CASE(the_second_may_begin_after_any_step_of_the_first) {
  Outcomes outcomes;
  for (const std::size_t first : {0, 1}) {
    bool connected_before = false;
    for (int steps = 0; !connected_before; ++steps) {
      SharedWorld both(2);
      const auto of_first = both.start(first, 1 - first);
      for (int i = 0; i < steps; ++i) BOOST_REQUIRE(both.world.step());
      connected_before = of_first->has_value();
      const auto of_second = both.start(1 - first, first);
      both.world.settle();
      BOOST_TEST_CONTEXT("node " << first << " is first, by " << steps << " steps") {
        outcomes.check(both, first == 0 ? of_first : of_second, first == 0 ? of_second : of_first);
      }
    }
  }
  BOOST_TEST(outcomes.smaller_won > 5);
  BOOST_TEST(outcomes.larger_won > 5);
}

BOOST_AUTO_TEST_CASE(steps_in_a_random_order_change_nothing) {
  Outcomes outcomes;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    SeededRandom random(seed);
    SharedWorld both(2);
    const auto some = [&] { return microseconds(random.below(4000)); };
    const auto of_0 = both.start(0, 1, some(), some());
    const auto of_1 = both.start(1, 0, some(), some());
    both.world.run_for(seconds(1));
    BOOST_TEST_CONTEXT("seed " << seed) { outcomes.check(both, of_0, of_1); }
  }
  BOOST_TEST((outcomes.smaller_won > 30 && outcomes.larger_won > 30));
}

BOOST_AUTO_TEST_CASE(a_later_connect_takes_the_session_that_is_there) {
  for (const std::size_t first : {0, 1}) {
    SharedWorld both(2);
    SessionClient& there = both.connect(first, 1 - first);
    SessionClient& back = both.connect(1 - first, first);
    BOOST_TEST((!there.found() && back.found()));
    // Known by what was dialed, not by whoever dialed the connection that is used.
    BOOST_TEST(back.peer_name() == "dialed");
    BOOST_TEST(both.node(0).server.sessions() == 1U);
    BOOST_TEST(both.node(1).server.sessions() == 1U);
    BOOST_TEST((both.works(there, 1) && both.works(back, 1)));
  }
}

BOOST_AUTO_TEST_CASE(a_second_connect_from_the_same_side_has_a_session_of_its_own) {
  SharedWorld both(2);
  SessionClient& first = both.connect(0, 1);
  SessionClient& second = both.connect(0, 1);
  BOOST_TEST(!second.found());
  BOOST_TEST(both.node(1).server.sessions() == 2U);
  BOOST_REQUIRE((both.query(first, 1).ok() && both.query(second, 1).ok()));
  // And the other side may use either, each once.
  BOOST_TEST((both.connect(1, 0).found() && both.connect(1, 0).found()));
  BOOST_TEST(!both.connect(1, 0).found());
  BOOST_TEST(both.node(1).server.sessions() == 3U);
}

BOOST_AUTO_TEST_CASE(three_nodes_that_connect_at_once_have_three_sessions) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SeededRandom random(seed);
    SharedWorld three(3);
    std::vector<VirtualWorld::Outcome<Connected>> outcomes;
    for (const std::size_t from : {0, 1, 2}) {
      for (const std::size_t to : {0, 1, 2}) {
        const auto wait = microseconds(random.below(3000));
        const auto latency = microseconds(random.below(3000));
        if (from != to) outcomes.push_back(three.start(from, to, wait, latency));
      }
    }
    three.world.run_for(seconds(1));
    BOOST_TEST_CONTEXT("seed " << seed) {
      for (const auto& outcome : outcomes) BOOST_TEST(three.works(three.keep(outcome), 1));
      for (const auto& node : three.nodes) BOOST_TEST(node->server.sessions() == 2U);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_node_may_connect_to_itself) {
  SharedWorld one(1);
  SessionClient& first = one.connect(0, 0);
  SessionClient& second = one.connect(0, 0);
  BOOST_TEST((!first.found() && !second.found()));
  BOOST_TEST((one.works(first, 1) && one.works(second, 1)));
  // Both ends of each connection are here.
  BOOST_TEST(one.node(0).server.sessions() == 4U);
  one.close(first);
  BOOST_TEST(one.node(0).server.sessions() == 2U);
  BOOST_TEST(one.works(second, 2));
}

BOOST_AUTO_TEST_CASE(a_node_that_was_started_again_meets_nothing_of_before) {
  SharedWorld both(2);
  SessionClient& old = both.connect(0, 1);
  BOOST_REQUIRE(both.query(old, 1).ok());
  // The same node as far as ids go, in a new process.
  both.add(NodeIdentity{NodeId(1), BootId(999), "n"});
  SessionClient& back = both.connect(1, 2);
  BOOST_TEST(!back.found());
  SessionClient& again = both.connect(2, 1);
  BOOST_TEST(again.found());
  BOOST_TEST((again.holder().boot == both.node(1).identity.boot));
  BOOST_TEST(!both.confirm(again, 1).ok());
  BOOST_TEST(both.confirm(old, 1).ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
