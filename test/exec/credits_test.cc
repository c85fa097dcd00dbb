#include "engine/exec/credits.h"

#include <deque>
#include <vector>

#include "engine/base/random.h"
#include "test/exec/support.h"

namespace corail::test {
namespace {

Task<Result<void>> take(Credits& credits, std::uint64_t n, int id, std::vector<int>& order) {
  auto taken = co_await credits.acquire(n);
  if (taken.ok()) order.push_back(id);
  co_return taken;
}

Task<Result<void>> take_holding(Credits& credits, std::shared_ptr<int> token) {
  auto taken = co_await credits.acquire(1);
  *token = 1;
  co_return taken;
}

Task<int> take_and_give(Credits& credits, int times) {
  int count = 0;
  for (int i = 0; i < times; ++i) {
    const auto taken = co_await credits.acquire(1);
    count += taken.ok() ? 1 : 0;
    credits.release(1);
  }
  co_return count;
}

BOOST_AUTO_TEST_SUITE(credits)

// The model: a budget and a queue of wishes, served strictly from the front.
BOOST_AUTO_TEST_CASE(are_granted_first_come_first_served) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SeededRandom random(seed);
    asio::io_context context;
    std::uint64_t available = random.below(10);
    Credits budget(context.get_executor(), available, 1000);
    std::vector<std::unique_ptr<Started<Result<void>>>> takers;
    std::vector<int> order;
    std::deque<std::pair<int, std::uint64_t>> waiting;
    std::vector<int> expected;
    const auto serve = [&] {
      while (!waiting.empty() && waiting.front().second <= available) {
        available -= waiting.front().second;
        expected.push_back(waiting.front().first);
        waiting.pop_front();
      }
    };
    for (int id = 0; id < 60; ++id) {
      const std::uint64_t n = random.below(8);
      if (random.below(3) == 0) {
        budget.release(n);
        available += n;
      } else if (random.below(4) == 0) {
        const bool could = waiting.empty() && n <= available;
        BOOST_REQUIRE_EQUAL(budget.try_acquire(n), could);
        if (could) available -= n;
      } else {
        takers.push_back(
            std::make_unique<Started<Result<void>>>(context, take(budget, n, id, order)));
        waiting.emplace_back(id, n);
      }
      serve();
      settle(context);
      BOOST_REQUIRE_EQUAL(budget.available(), available);
      BOOST_REQUIRE_EQUAL(budget.waiting(), waiting.size());
      BOOST_REQUIRE_EQUAL_COLLECTIONS(order.begin(), order.end(), expected.begin(), expected.end());
    }
    budget.close(Error(Errc::kClosed, "test over"));
    settle(context);
    for (auto& taker : takers) BOOST_REQUIRE(taker->done());
    BOOST_REQUIRE_EQUAL(order.size(), expected.size());
  }
}

BOOST_AUTO_TEST_CASE(refuse_more_waiters_than_allowed) {
  asio::io_context context;
  Credits budget(context.get_executor(), 0, 2);
  std::vector<int> order;
  Started<Result<void>> first(context, take(budget, 1, 1, order));
  Started<Result<void>> second(context, take(budget, 1, 2, order));
  Started<Result<void>> third(context, take(budget, 1, 3, order));
  settle(context);
  BOOST_TEST((third.value().error().code() == Errc::kBusy));
  BOOST_TEST(!first.done());
  budget.release(2);
  settle(context);
  BOOST_TEST(first.value().ok());
  BOOST_TEST(second.value().ok());
}

BOOST_AUTO_TEST_CASE(close_fails_waiting_and_later_callers) {
  asio::io_context context;
  Credits budget(context.get_executor(), 5, 10);
  std::vector<int> order;
  Started<Result<void>> waiting(context, take(budget, 6, 1, order));
  settle(context);
  budget.close(Error(Errc::kCancelled, "first"));
  budget.close(Error(Errc::kDeadline, "second"));
  budget.release(100);
  Started<Result<void>> late(context, take(budget, 1, 2, order));
  settle(context);
  BOOST_TEST((waiting.value().error().code() == Errc::kCancelled));
  BOOST_TEST((late.value().error().code() == Errc::kCancelled));
  BOOST_TEST(!budget.try_acquire(1));
  BOOST_TEST(order.empty());
}

BOOST_AUTO_TEST_CASE(a_long_loop_that_never_waits_keeps_its_stack) {
  asio::io_context context;
  Credits budget(context.get_executor(), 1, 1);
  BOOST_TEST(run(context, take_and_give(budget, 100000)) == 100000);
}

BOOST_AUTO_TEST_CASE(cancellation_does_not_lose_credits) {
  asio::io_context context;
  Credits budget(context.get_executor(), 0, 10);
  std::vector<int> order;
  Started<Result<void>> taker(context, take(budget, 1, 1, order));
  settle(context);
  taker.cancel();
  settle(context);
  BOOST_TEST(!taker.done());
  budget.release(1);
  settle(context);
  BOOST_TEST(taker.value().ok());
  BOOST_TEST(budget.available() == 0U);
}

BOOST_AUTO_TEST_CASE(abandoned_waiters_are_destroyed) {
  asio::io_context context;
  const auto token = std::make_shared<int>(0);
  auto budget = std::make_unique<Credits>(context.get_executor(), 0, 10);
  Started<Result<void>> taker(context, take_holding(*budget, token));
  settle(context);
  BOOST_TEST(token.use_count() == 2);
  budget.reset();
  settle(context);
  BOOST_TEST(!taker.done());
  BOOST_TEST(token.use_count() == 1);
  BOOST_TEST(*token == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
