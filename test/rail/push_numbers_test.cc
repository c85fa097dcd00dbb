#include "engine/rail/push_numbers.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/base/random.h"

namespace corail::test {
namespace {

BOOST_AUTO_TEST_SUITE(push_numbers)

BOOST_AUTO_TEST_CASE(no_number_is_taken_twice_whatever_the_order) {
  SeededRandom random(1);
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < kRememberedOrders; ++i) numbers.push_back(1 + 3 * i);
  for (std::size_t i = numbers.size(); i > 1; --i) {
    std::swap(numbers[i - 1], numbers[random.below(i)]);
  }
  PushNumbers taken;
  for (const std::uint64_t number : numbers) BOOST_TEST_REQUIRE(taken.take(number));
  for (const std::uint64_t number : numbers) BOOST_TEST_REQUIRE(!taken.take(number));
}

BOOST_AUTO_TEST_CASE(what_was_forgotten_is_not_taken_again) {
  PushNumbers taken;
  for (std::uint64_t number = 10; number < 10 + 2 * kRememberedOrders; ++number) {
    BOOST_TEST_REQUIRE(taken.take(number));
  }
  for (std::uint64_t number = 0; number < 10 + 2 * kRememberedOrders; ++number) {
    BOOST_TEST_REQUIRE(!taken.take(number));
  }
  BOOST_TEST(taken.take(10 + 2 * kRememberedOrders));
}

BOOST_AUTO_TEST_CASE(zero_is_no_number) {
  PushNumbers taken;
  BOOST_TEST(!taken.take(0));
  BOOST_TEST(taken.take(~std::uint64_t{0}));
  BOOST_TEST(!taken.take(~std::uint64_t{0}));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
