#include "engine/read/cancel_token.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "test/support/repetitions.h"

namespace corail::test {
namespace {

BOOST_AUTO_TEST_SUITE(cancel_tokens)

BOOST_AUTO_TEST_CASE(everybody_is_called_once) {
  CancelToken token;
  int first = 0;
  int second = 0;
  const auto a = token.subscribe([&] { ++first; });
  const auto b = CancelToken(token).subscribe([&] { ++second; });
  BOOST_TEST(!token.cancelled());
  token.cancel();
  token.cancel();
  BOOST_TEST(token.cancelled());
  BOOST_TEST(first == 1);
  BOOST_TEST(second == 1);
}

BOOST_AUTO_TEST_CASE(a_token_can_be_pulled_after_it_was_given_away) {
  CancelToken mine;
  CancelToken given(std::move(mine));
  CancelToken assigned;
  assigned = std::move(given);
  mine.cancel();
  BOOST_TEST(mine.cancelled());
  BOOST_TEST(given.cancelled());
  BOOST_TEST(assigned.cancelled());
}

BOOST_AUTO_TEST_CASE(who_comes_late_is_called_at_once) {
  CancelToken token;
  token.cancel();
  int calls = 0;
  const auto subscription = token.subscribe([&] { ++calls; });
  BOOST_TEST(calls == 1);
  token.cancel();
  BOOST_TEST(calls == 1);
}

BOOST_AUTO_TEST_CASE(who_has_left_is_not_called) {
  CancelToken token;
  int calls = 0;
  {
    auto subscription = token.subscribe([&] { ++calls; });
    const auto moved = std::move(subscription);
  }
  token.cancel();
  BOOST_TEST(calls == 0);
}

BOOST_AUTO_TEST_CASE(a_subscription_outlives_its_token) {
  int calls = 0;
  std::optional<CancelToken> token(std::in_place);
  const auto subscription = token->subscribe([&] { ++calls; });
  token.reset();
  BOOST_TEST(calls == 0);
}

/// The point of a subscription: once it is gone, what the callback refers to may go as well. The
/// sanitizers are the judges.
BOOST_AUTO_TEST_CASE(no_callback_runs_after_its_subscription) {
  for (int round = 0; round < repetitions(500); ++round) {
    CancelToken token;
    std::atomic<bool> go{false};
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i) {
      threads.emplace_back([&go, &wrong, token]() mutable {
        while (!go) std::this_thread::yield();
        auto value = std::make_unique<int>(7);
        {
          const auto subscription = token.subscribe([&wrong, seen = value.get()] {
            if (*seen != 7) ++wrong;
          });
          std::this_thread::yield();
        }
        *value = 0;
        value.reset();
      });
    }
    threads.emplace_back([&go, token]() mutable {
      while (!go) std::this_thread::yield();
      token.cancel();
    });
    go = true;
    for (std::thread& thread : threads) thread.join();
    BOOST_TEST_REQUIRE(wrong == 0);
    BOOST_TEST_REQUIRE(token.cancelled());
  }
}

BOOST_AUTO_TEST_CASE(of_many_cancels_one_calls) {
  for (int round = 0; round < repetitions(200); ++round) {
    CancelToken token;
    int calls = 0;  // no atomic: the token is to be the only guard
    const auto subscription = token.subscribe([&] { ++calls; });
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back([token]() mutable { token.cancel(); });
    for (std::thread& thread : threads) thread.join();
    BOOST_TEST_REQUIRE(calls == 1);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
