#include "engine/rail/connect_limit.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <memory>
#include <vector>

namespace corail::test {
namespace {

ConnectLimits limits(std::size_t most, std::size_t per_peer, std::size_t retrying) {
  ConnectLimits limits;
  limits.most = most;
  limits.per_peer = per_peer;
  limits.retrying = retrying;
  return limits;
}

struct Queue {
  explicit Queue(std::size_t most) : limit(limits(most, most, most)) {}
  explicit Queue(ConnectLimits those) : limit(those) {}

  std::unique_ptr<ConnectLimit::Turn> ask(int who) { return ask(who, ConnectRequest()); }
  std::unique_ptr<ConnectLimit::Turn> ask(int who, ConnectRequest request) {
    return limit.ask(request, [this, who] { begun.push_back(who); });
  }
  std::unique_ptr<ConnectLimit::Turn> ask_for(int who, std::uint64_t peer) {
    ConnectRequest request;
    request.peer = peer;
    return ask(who, request);
  }
  std::unique_ptr<ConnectLimit::Turn> ask_again(int who, std::uint64_t peer) {
    ConnectRequest request;
    request.peer = peer;
    request.failed_before = true;
    return ask(who, request);
  }

  ConnectLimit limit;
  std::vector<int> begun;
};

const std::vector<int> kFirstTwo{1, 2};
const std::vector<int> kThirdNext{1, 2, 3};
const std::vector<int> kFifthNext{1, 2, 3, 5};

BOOST_AUTO_TEST_SUITE(connect_limit)

BOOST_AUTO_TEST_CASE(so_many_at_once_and_the_others_in_order) {
  Queue queue(2);
  auto first = queue.ask(1);
  auto second = queue.ask(2);
  auto third = queue.ask(3);
  auto fourth = queue.ask(4);
  auto fifth = queue.ask(5);
  BOOST_TEST(queue.begun == kFirstTwo);
  BOOST_TEST(queue.limit.connecting() == 2U);
  second.reset();
  BOOST_TEST(queue.begun == kThirdNext);
  // Whoever leaves the queue loses his turn, and nobody else's is lost.
  fourth.reset();
  BOOST_TEST(queue.limit.connecting() == 2U);
  first.reset();
  BOOST_TEST(queue.begun == kFifthNext);
  third.reset();
  fifth.reset();
  BOOST_TEST(queue.limit.connecting() == 0U);
  auto sixth = queue.ask(6);
  BOOST_TEST(queue.begun.back() == 6);
}

BOOST_AUTO_TEST_CASE(a_peer_takes_no_more_than_its_part) {
  Queue queue(limits(4, 2, 4));
  auto first = queue.ask_for(1, 7);
  auto second = queue.ask_for(2, 7);
  auto third = queue.ask_for(3, 7);
  BOOST_TEST(queue.begun == std::vector<int>({1, 2}));
  // Whoever waits for his own peer's turns holds up nobody else.
  auto other = queue.ask_for(4, 8);
  BOOST_TEST(queue.begun == std::vector<int>({1, 2, 4}));
  second.reset();
  BOOST_TEST(queue.begun == std::vector<int>({1, 2, 4, 3}));
}

BOOST_AUTO_TEST_CASE(those_that_failed_before_leave_turns_to_the_others) {
  Queue queue(limits(3, 3, 2));
  auto first = queue.ask_again(1, 1);
  auto second = queue.ask_again(2, 2);
  auto third = queue.ask_again(3, 3);
  auto fresh = queue.ask_for(4, 4);
  auto late = queue.ask_for(5, 5);
  BOOST_TEST(queue.begun == std::vector<int>({1, 2, 4}));
  first.reset();
  // In their order again, as far as the limits go.
  BOOST_TEST(queue.begun == std::vector<int>({1, 2, 4, 3}));
  fresh.reset();
  BOOST_TEST(queue.begun == std::vector<int>({1, 2, 4, 3, 5}));
  BOOST_TEST(queue.limit.connecting() == 3U);
}

/// One turn that is given back may be what two were waiting for, for different reasons.
BOOST_AUTO_TEST_CASE(everybody_who_may_begins) {
  Queue queue(limits(4, 1, 1));
  auto first = queue.ask_again(1, 1);
  auto same_peer = queue.ask_for(2, 1);
  auto retrying = queue.ask_again(3, 2);
  BOOST_TEST(queue.begun == std::vector<int>({1}));
  first.reset();
  BOOST_TEST(queue.begun == std::vector<int>({1, 2, 3}));
}

BOOST_AUTO_TEST_CASE(peers_have_numbers_of_their_own) {
  ConnectLimit limit;
  const std::uint64_t first = limit.add_peer();
  BOOST_TEST(first != 0U);
  BOOST_TEST(limit.add_peer() != first);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
