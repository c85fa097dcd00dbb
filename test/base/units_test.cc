#include "engine/base/units.h"

#include <array>
#include <boost/test/unit_test.hpp>
#include <set>
#include <type_traits>
#include <unordered_set>

#include "engine/base/ids.h"
#include "engine/base/random.h"

namespace corail {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

BOOST_AUTO_TEST_SUITE(units)

// Compared with 128 bits, where nothing overflows. Shifts make small and large numbers alike.
BOOST_AUTO_TEST_CASE(checked_arithmetic_agrees_with_wider_numbers) {
  __extension__ using Wide = unsigned __int128;
  SeededRandom random(1);
  int overflows = 0;
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t a = random.next() >> random.below(64);
    const std::uint64_t b = random.next() >> random.below(64);
    const Wide sum = static_cast<Wide>(a) + b;
    const Wide product = static_cast<Wide>(a) * b;
    BOOST_REQUIRE_EQUAL(checked_add(a, b).has_value(), sum <= kMax);
    BOOST_REQUIRE_EQUAL(checked_mul(a, b).has_value(), product <= kMax);
    if (sum <= kMax) BOOST_REQUIRE_EQUAL(*checked_add(a, b), a + b);
    if (product <= kMax) BOOST_REQUIRE_EQUAL(*checked_mul(a, b), a * b);
    overflows += product > kMax ? 1 : 0;
  }
  BOOST_TEST(overflows > 1000);
  BOOST_TEST(*checked_add(kMax, 0) == kMax);
  BOOST_TEST(!checked_add(kMax, 1));
  BOOST_TEST(*checked_mul(kMax, 1) == kMax);
}

BOOST_AUTO_TEST_CASE(align_up_gives_the_next_multiple) {
  for (std::uint64_t alignment = 1; alignment < 70; ++alignment) {
    for (std::uint64_t value = 0; value < 300; ++value) {
      const std::uint64_t aligned = align_up(value, alignment);
      BOOST_REQUIRE(aligned % alignment == 0);
      BOOST_REQUIRE(aligned >= value && aligned - value < alignment);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(strong_id)

static_assert(!std::is_convertible_v<std::uint32_t, RailIndex>);
static_assert(!std::is_convertible_v<RailIndex, std::uint32_t>);
static_assert(!std::is_constructible_v<RailIndex, PortIndex>);

BOOST_AUTO_TEST_CASE(orders_and_hashes_like_its_number) {
  SeededRandom random(3);
  std::unordered_set<ReadId> ids;
  std::set<std::uint64_t> numbers;
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t a = random.below(100);
    const std::uint64_t b = random.below(100);
    BOOST_REQUIRE_EQUAL(ReadId(a) < ReadId(b), a < b);
    BOOST_REQUIRE_EQUAL(ReadId(a) == ReadId(b), a == b);
    ids.insert(ReadId(a));
    numbers.insert(a);
  }
  BOOST_TEST(ids.size() == numbers.size());
  BOOST_TEST(ReadId().value() == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(random_suite)

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_sequence) {
  SeededRandom random(0);
  BOOST_TEST(random.next() == 0xE220A8397B1DCDAFU);
  BOOST_TEST(random.next() == 0x6E789E6AA1B965F4U);
  BOOST_TEST(random.next() == 0x06C45D188009454FU);
}

BOOST_AUTO_TEST_CASE(below_reaches_everything_below_and_nothing_else) {
  SeededRandom random(4);
  std::array<int, 7> seen{};
  for (int i = 0; i < 10000; ++i) ++seen.at(random.below(7));
  for (const int count : seen) BOOST_TEST(count > 1000);
}

BOOST_AUTO_TEST_CASE(the_systems_generator_does_not_repeat) {
  SystemRandom random;
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) BOOST_REQUIRE(seen.insert(random.next()).second);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
