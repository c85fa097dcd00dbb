// How a session that two nodes share ends, one direction at a time or both.
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "rpc/decode_sink.h"
#include "test/rpc/shared_world.h"

namespace corail::test {
namespace {

using std::chrono::seconds;

/// Both nodes call over one session, with a lease and rails each.
struct SharedSession : SharedWorld {
  SharedSession() : SharedWorld(2), to_1(connect(0, 1)), to_0(connect(1, 0)) {
    BOOST_REQUIRE(to_0.found());
    for (SessionClient* const client : {&to_1, &to_0}) {
      BOOST_REQUIRE(open_rails(*client).ok());
      BOOST_REQUIRE(query(*client, 1).ok());
    }
  }
  std::size_t leases_at(std::size_t index) { return node(index).store.stats().leases; }

  SessionClient& to_1;
  SessionClient& to_0;
};

BOOST_AUTO_TEST_SUITE(shared_life)

BOOST_AUTO_TEST_CASE(leaving_takes_away_what_is_ones_own_and_nothing_of_the_others) {
  for (const bool dialer_leaves : {true, false}) {
    SharedSession both;
    SessionClient& leaver = dialer_leaves ? both.to_1 : both.to_0;
    SessionClient& other = dialer_leaves ? both.to_0 : both.to_1;
    // Node 0 dialed; who leaves is served by the other.
    const std::size_t server = dialer_leaves ? 1 : 0;
    both.close(leaver);
    BOOST_TEST(both.leases_at(server) == 0U);
    BOOST_TEST((both.node(server).rails.dropped == both.node(server).rails.admitted));
    BOOST_TEST(both.leases_at(1 - server) == 1U);
    BOOST_TEST(both.node(1 - server).rails.dropped.empty());
    BOOST_TEST(both.confirm(other, 1).ok());
    BOOST_TEST(both.works(other, 2));
    BOOST_TEST((both.node(0).server.sessions() == 1U && both.node(1).server.sessions() == 1U));
    both.close(other);
    BOOST_TEST((both.node(0).server.sessions() == 0U && both.node(1).server.sessions() == 0U));
    BOOST_TEST((both.node(1 - server).rails.dropped == both.node(1 - server).rails.admitted));
  }
}

BOOST_AUTO_TEST_CASE(both_may_leave_at_once) {
  SharedSession both;
  const auto first = both.world.start(close(&both.to_1));
  const auto second = both.world.start(close(&both.to_0));
  both.world.run_for(seconds(1));
  BOOST_TEST((first->has_value() && second->has_value()));
  BOOST_TEST((both.node(0).server.sessions() == 0U && both.node(1).server.sessions() == 0U));
  BOOST_TEST((both.leases_at(0) == 0U && both.leases_at(1) == 0U));
}

BOOST_AUTO_TEST_CASE(who_left_may_come_back_and_finds_nothing_of_the_stay_before) {
  for (const bool dialer_leaves : {true, false}) {
    SharedSession both;
    const std::size_t leaver = dialer_leaves ? 0 : 1;
    both.close(dialer_leaves ? both.to_1 : both.to_0);
    SessionClient& again = both.connect(leaver, 1 - leaver);
    BOOST_TEST(again.found());
    BOOST_TEST(both.node(0).server.sessions() == 1U);
    BOOST_TEST(!both.confirm(again, 1).ok());
    BOOST_TEST(both.works(again, 2));
    BOOST_TEST(both.open_rails(again).ok());
    const auto& admitted = both.node(1 - leaver).rails.admitted;
    BOOST_REQUIRE(admitted.size() == 2U);
    BOOST_TEST((admitted[0] != admitted[1]));
    BOOST_TEST(both.node(1 - leaver).rails.dropped.size() == 1U);
  }
}

BOOST_AUTO_TEST_CASE(a_stay_lets_go_only_when_nothing_is_served_for_it_any_more) {
  SharedWorld both(2);
  SessionClient& to_1 = both.connect(0, 1);
  SessionClient& to_0 = both.connect(1, 0);
  FakeRails& rails = both.node(0).rails;
  rails.hold = true;
  const auto opened = both.open_rails(to_0);
  BOOST_REQUIRE((!opened.ok() && opened.error().code() == Errc::kDeadline));
  both.close(to_0);
  BOOST_TEST((rails.held.size() == 1U && rails.dropped.empty()));
  rails.let_go();
  both.world.settle();
  BOOST_TEST(rails.admitted.size() == 1U);
  BOOST_TEST((rails.dropped == rails.admitted));
  BOOST_TEST(both.works(to_1, 1));
}

BOOST_AUTO_TEST_CASE(who_comes_and_goes_faster_than_its_stays_end_is_told_to_wait) {
  SharedWorld both(2);
  SessionClient& to_1 = both.connect(0, 1);
  FakeRails& rails = both.node(0).rails;
  rails.hold = true;
  Errc last = Errc::kDeadline;
  int stays = 0;
  for (; last == Errc::kDeadline && stays < 100; ++stays) {
    SessionClient& to_0 = both.connect(1, 0);
    const auto opened = both.open_rails(to_0);
    last = opened.ok() ? Errc::kUnset : opened.error().code();
    both.close(to_0);
  }
  BOOST_TEST((last == Errc::kBusy));
  BOOST_TEST(stays == 9);
  rails.let_go();
  both.world.settle();
  BOOST_TEST(rails.dropped.size() == 8U);
  rails.hold = false;
  SessionClient& to_0 = both.connect(1, 0);
  BOOST_TEST((both.open_rails(to_0).ok() && both.works(to_0, 1) && both.works(to_1, 1)));
}

BOOST_AUTO_TEST_CASE(a_connection_that_breaks_ends_both_directions) {
  SharedSession both;
  const auto why_0 = both.world.start(both.to_1.wait_ended());
  const auto why_1 = both.world.start(both.to_0.wait_ended());
  for (const MemoryStreamPair& pair : both.pairs) pair.cut();
  both.world.run_for(seconds(1));
  for (const auto& why : {why_0, why_1}) {
    BOOST_REQUIRE(why->has_value());
    BOOST_TEST(((*why)->code() == Errc::kConnectionLost));
  }
  for (const std::size_t node : {0, 1}) {
    BOOST_TEST(both.leases_at(node) == 0U);
    BOOST_TEST((both.node(node).rails.dropped == both.node(node).rails.admitted));
    BOOST_TEST(both.node(node).server.sessions() == 0U);
  }
}

BOOST_AUTO_TEST_CASE(a_node_that_closes_ends_both_directions) {
  SharedSession both;
  const auto why = both.world.start(both.to_0.wait_ended());
  both.close(both.to_1);
  both.world.run(close(&both.node(0).server));
  both.world.run_for(seconds(1));
  BOOST_REQUIRE(why->has_value());
  BOOST_TEST((*why)->detail() == "the node is closing");
  BOOST_TEST(both.node(1).server.sessions() == 0U);
  BOOST_TEST(both.leases_at(0) == 0U);
}

BOOST_AUTO_TEST_CASE(a_session_that_is_found_may_have_ended_in_the_moment) {
  SharedWorld both(2);
  SessionClient& to_1 = both.connect(0, 1);
  const auto closing = both.world.start(close(&to_1));
  const auto connecting = both.start(1, 0);
  both.world.run_for(seconds(1));
  SessionClient& to_0 = both.keep(connecting);
  // Whichever connection it is: it works, or says that it ended and that trying again makes sense.
  const auto answer = both.query(to_0, 1);
  BOOST_TEST((answer.ok() || (to_0.found() && answer.error().code() == Errc::kConnectionLost)));
}

BOOST_AUTO_TEST_CASE(changed_regions_are_told_to_whoever_stays) {
  SharedSession both;
  for (const std::size_t index : {0, 1}) {
    ControlNode& node = both.node(index);
    BOOST_REQUIRE(node.registry.add(0x1000, 0x1000, 1, {}).ok());
    const auto newest = node.registry.snapshot()->generation();
    SessionClient& client = index == 0 ? both.to_0 : both.to_1;
    BOOST_TEST((client.regions()->generation() != newest));
    node.server.regions_changed(newest);
    both.world.settle();
    BOOST_TEST((client.regions()->generation() == newest));
  }
}

BOOST_AUTO_TEST_CASE(one_that_only_calls_shares_nothing) {
  SharedWorld both(2);
  // As a node without a listening address does, or one of before sessions were shared.
  both.pairs.push_back(make_stream_pair(both.world.executor(), {}));
  both.node(1).server.adopt(std::move(both.pairs.back().right));
  ClientOptions options;
  options.identity = both.node(0).identity;
  auto caller = both.world.run(SessionClient::connect(both.world.executor(), both.world.clock(),
                                                      std::move(both.pairs.back().left),
                                                      std::move(options), both.soon()));
  BOOST_REQUIRE(caller.ok());
  SessionClient& back = both.connect(1, 0);
  BOOST_TEST(!back.found());
  BOOST_TEST((both.works(**caller, 1) && both.works(back, 1)));
  both.close(back);
  BOOST_TEST(both.works(**caller, 2));
  both.close(**caller);
  BOOST_TEST((both.node(0).server.sessions() == 0U && both.node(1).server.sessions() == 0U));
}

/// A holder of before sessions were shared: it answers Hello without the feature.
class OldHolder final : public CallHandler {
 public:
  Task<Result<FrameBuffer>> serve(InboundCall& call) override {
    const auto asked = decode_hello(call.body());
    if (!asked.ok()) co_return asked.error();
    HelloAnswer answer;
    answer.protocol_version = kProtocolMax;
    answer.features = asked->features & kFeatureAnswerEncodings;
    answer.identity = NodeIdentity{NodeId(9), BootId(9), "old"};
    answer.auth_method = kAuthNone;
    co_return encode_hello_answer(answer);
  }
  Result<void> on_notify(Method method, std::span<const std::byte>) override {
    BOOST_TEST((method != Method::kGoodbye));
    return ok_result();
  }
};

Task<Result<CallReport>> release_at(Connection* connection, TimePoint deadline) {
  EmptySink sink;
  FrameBuffer request = encode_read_id(ReadId(1));
  const CallOptions options{deadline, nullptr};
  auto called = co_await connection->call(Method::kReleaseLease, std::move(request), sink, options);
  co_return called;
}

BOOST_AUTO_TEST_CASE(a_peer_that_knows_no_sharing_is_called_and_not_served) {
  SharedWorld one(1);
  OldHolder holder;
  MemoryStreamPair pair = make_stream_pair(one.world.executor(), {});
  Connection old(one.world.executor(), one.world.clock(), std::move(pair.right), holder, {});
  const auto accepted = one.world.start(old.open_as_server());
  auto client = one.world.run(one.node(0).server.connect(std::move(pair.left), one.soon()));
  BOOST_REQUIRE(client.ok());
  const auto served = one.world.run(release_at(&old, one.soon()));
  BOOST_REQUIRE(!served.ok());
  BOOST_TEST((served.error().code() == Errc::kRefused));
  one.close(**client);
  BOOST_TEST(one.node(0).server.sessions() == 0U);
  one.world.run(close(&old));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
