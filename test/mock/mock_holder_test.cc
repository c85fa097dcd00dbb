#include "engine/rail/mock/mock_holder.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

#include "test/support/held_blocks.h"
#include "test/support/virtual_world.h"

namespace corail::test {
namespace {

Task<bool> drop(MockHolder* holder, SessionId session) {
  co_await holder->drop_session(session);
  co_return true;
}

Slice first_bytes(std::uint64_t length) {
  Slice slice;
  slice.region = RegionId(100);
  slice.length = length;
  return slice;
}

struct Fixture {
  Fixture() : held(HeldShape{}, 1), holder(net, "a") { BOOST_TEST_REQUIRE(holder.open().ok()); }

  VirtualWorld world;
  HeldBlocks held;
  MockNet net;
  MockHolder holder;
};

ChannelToken token_of(std::uint8_t byte) {
  ChannelToken token{};
  token[0] = byte;
  return token;
}

BOOST_FIXTURE_TEST_SUITE(mock_holder, Fixture)

BOOST_AUTO_TEST_CASE(only_the_right_token_at_the_right_address_connects) {
  const RailEndpoint endpoint = holder.admit_session(SessionId(1), token_of(1), held);
  BOOST_TEST(net.connect(endpoint).ok());
  RailEndpoint wrong = endpoint;
  wrong.token = token_of(2);
  BOOST_TEST((net.connect(wrong).error().code() == Errc::kConnectFailed));
  wrong = endpoint;
  wrong.address = "b";
  BOOST_TEST((net.connect(wrong).error().code() == Errc::kConnectFailed));
}

BOOST_AUTO_TEST_CASE(an_address_has_one_holder) {
  MockHolder other(net, "a");
  BOOST_TEST((other.open().error().code() == Errc::kInvalidArgument));
  holder.shut();
  BOOST_TEST(other.open().ok());
}

BOOST_AUTO_TEST_CASE(what_is_admitted_is_pinned_until_it_ends) {
  const auto channel = *net.connect(holder.admit_session(SessionId(1), token_of(1), held));
  BOOST_TEST_REQUIRE(channel->admit(1, ReadContext{}, first_bytes(100)).ok());
  BOOST_TEST(held.pins() == 1U);
  std::vector<std::byte> bytes(60);
  BOOST_TEST(channel->copy(1, 40, 60, bytes.data()));
  const auto segment = held.segment(0, 0).subspan(40, 60);
  BOOST_TEST(std::equal(bytes.begin(), bytes.end(), segment.begin()));
  BOOST_TEST(!channel->copy(1, 41, 60, bytes.data()));
  BOOST_TEST(!channel->copy(1, ~std::uint64_t{0}, 60, bytes.data()));
  BOOST_TEST(!channel->copy(2, 0, 1, bytes.data()));
  channel->end(1);
  channel->end(1);
  BOOST_TEST(held.pins() == 0U);
  BOOST_TEST(!channel->copy(1, 0, 1, bytes.data()));
}

BOOST_AUTO_TEST_CASE(channels_that_were_closed_are_not_kept) {
  const RailEndpoint endpoint = holder.admit_session(SessionId(1), token_of(1), held);
  auto closed = *net.connect(endpoint);
  const std::weak_ptr<MockChannel> watched = closed;
  closed->shut();
  closed.reset();
  const auto open = *net.connect(endpoint);
  BOOST_TEST(watched.expired());
  BOOST_TEST(open->admit(1, ReadContext{}, first_bytes(100)).ok());
}

BOOST_AUTO_TEST_CASE(a_dropped_session_holds_nothing_and_serves_nothing) {
  const RailEndpoint one = holder.admit_session(SessionId(1), token_of(1), held);
  const RailEndpoint two = holder.admit_session(SessionId(2), token_of(2), held);
  const auto first = *net.connect(one);
  const auto second = *net.connect(two);
  BOOST_TEST(first->admit(1, ReadContext{}, first_bytes(100)).ok());
  BOOST_TEST(second->admit(1, ReadContext{}, first_bytes(100)).ok());
  world.run(drop(&holder, SessionId(1)));
  BOOST_TEST(held.pins() == 1U);
  std::byte byte{};
  BOOST_TEST(!first->copy(1, 0, 1, &byte));
  BOOST_TEST(second->copy(1, 0, 1, &byte));
  BOOST_TEST(
      (first->admit(2, ReadContext{}, first_bytes(1)).error().code() == Errc::kConnectionLost));
  BOOST_TEST((net.connect(one).error().code() == Errc::kConnectFailed));
  BOOST_TEST(net.connect(two).ok());
  holder.shut();
  BOOST_TEST(held.pins() == 0U);
  BOOST_TEST((net.connect(two).error().code() == Errc::kConnectFailed));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
