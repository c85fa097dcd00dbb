#include "engine/rail/connect_limit.h"

#include <boost/test/unit_test.hpp>
#include <memory>
#include <vector>

namespace corail::test {
namespace {

struct Queue {
  explicit Queue(std::size_t most) : limit(most) {}

  std::unique_ptr<ConnectLimit::Turn> ask(int who) {
    return limit.ask([this, who] { begun.push_back(who); });
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
