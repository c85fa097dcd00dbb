#include "engine/base/log.h"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <optional>
#include <string>

namespace corail {
namespace {

BOOST_AUTO_TEST_SUITE(log_limiter)

BOOST_AUTO_TEST_CASE(a_key_has_a_few_lines_an_interval_and_then_says_how_many_were_left_out) {
  LogLimiter limiter;
  LogLimiter::Time now(std::chrono::hours(1));
  for (std::uint32_t i = 0; i < LogLimiter::kLines; ++i) {
    BOOST_TEST((limiter.admit("cut off", now) == std::optional<std::uint64_t>(0)));
  }
  for (int i = 0; i < 1000; ++i) BOOST_TEST(!limiter.admit("cut off", now).has_value());
  BOOST_TEST((limiter.admit("another", now) == std::optional<std::uint64_t>(0)));
  now += LogLimiter::kInterval - std::chrono::nanoseconds(1);
  BOOST_TEST(!limiter.admit("cut off", now).has_value());
  now += std::chrono::nanoseconds(1);
  BOOST_TEST((limiter.admit("cut off", now) == std::optional<std::uint64_t>(1001)));
  BOOST_TEST((limiter.admit("cut off", now) == std::optional<std::uint64_t>(0)));
}

BOOST_AUTO_TEST_CASE(the_number_of_keys_is_bounded) {
  LogLimiter limiter;
  const LogLimiter::Time now(std::chrono::hours(1));
  std::uint64_t written = 0;
  for (int key = 0; key < 10'000; ++key) {
    if (limiter.admit("key " + std::to_string(key), now)) ++written;
  }
  BOOST_TEST(written == LogLimiter::kMaxKeys + LogLimiter::kLines);
  // Those that came first keep budgets of their own.
  BOOST_TEST(limiter.admit("key 0", now).has_value());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
