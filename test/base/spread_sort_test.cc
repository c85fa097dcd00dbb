#include "engine/base/spread_sort.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "engine/base/random.h"

namespace corail::test {
namespace {

struct Item {
  std::uint64_t key = 0;
  std::uint64_t number = 0;
  bool operator==(const Item&) const = default;
};

using Draw = std::function<std::uint64_t(SeededRandom&, std::size_t)>;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

struct Spread {
  std::string name;
  Draw draw;
};

const std::vector<Spread>& spreads() {
  static const std::vector<Spread> all = {
      {"evenly", [](SeededRandom& random, std::size_t) { return random.next(); }},
      {"equal blocks", [](SeededRandom& random, std::size_t) { return random.below(4096) << 21; }},
      {"all the same", [](SeededRandom&, std::size_t) { return std::uint64_t{7}; }},
      {"a few values", [](SeededRandom& random, std::size_t) { return random.below(3); }},
      {"the largest key far from the rest",
       [](SeededRandom& random, std::size_t i) { return i == 5 ? kMost : random.below(1000); }},
      {"both ends", [](SeededRandom& random, std::size_t) { return random.below(2) * kMost; }},
      {"two areas",
       [](SeededRandom& random, std::size_t) {
         return (random.below(2) << 40) + random.below(4096) * 4096;
       }},
      {"areas within areas",
       [](SeededRandom& random, std::size_t) {
         return std::uint64_t{1} << random.below(64) | std::uint64_t{1} << random.below(64);
       }},
      {"falling", [](SeededRandom&, std::size_t i) { return kMost - i * 4096; }},
      {"rising", [](SeededRandom&, std::size_t i) { return i * 4096; }}};
  return all;
}

BOOST_AUTO_TEST_SUITE(spread_sort)

BOOST_AUTO_TEST_CASE(sorts_whatever_it_is_given) {
  SeededRandom random(1);
  for (const Spread& spread : spreads()) {
    for (const std::size_t count : {0, 1, 2, 63, 64, 65, 1000, 1024, 3000}) {
      std::vector<Item> items;
      for (std::size_t i = 0; i < count; ++i) items.push_back({spread.draw(random, i), i});
      std::vector<Item> expected = items;
      sort_spread(items, [](const Item& item) { return item.key; });
      BOOST_TEST(std::is_sorted(items.begin(), items.end(),
                                [](const Item& a, const Item& b) { return a.key < b.key; }),
                 spread.name + ", " + std::to_string(count));
      // Each of them once.
      const auto by_number = [](const Item& a, const Item& b) { return a.number < b.number; };
      std::sort(items.begin(), items.end(), by_number);
      BOOST_TEST((items == expected), spread.name + ", " + std::to_string(count));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
