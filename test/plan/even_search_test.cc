#include "engine/plan/even_search.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "engine/base/random.h"

namespace corail::testing {
namespace {

std::size_t looked_up(const std::vector<std::uint64_t>& table, std::uint64_t at) {
  const auto after = std::upper_bound(table.begin(), table.end(), at);
  return static_cast<std::size_t>(after - table.begin()) - 1;
}

/// Counts the looks, which is what a search costs.
std::size_t searched(const std::vector<std::uint64_t>& table, std::uint64_t at, std::uint64_t total,
                     std::size_t& looks) {
  return last_at_or_before(table.size(), at, total, [&](std::size_t i) {
    ++looks;
    BOOST_REQUIRE(i < table.size());
    return table[i];
  });
}

/// Distances between neighbours of one kind: equal, nearly so, of any size, or mostly none.
std::uint64_t distance(std::uint64_t kind, SeededRandom& random) {
  switch (kind) {
    case 0:
      return 4096;
    case 1:
      return 4000 + random.below(200);
    case 2:
      return std::uint64_t{1} << random.below(40);
    default:
      return random.below(10) == 0 ? 1 + random.below(1'000'000) : 0;
  }
}

std::vector<std::uint64_t> ascending(std::uint64_t kind, std::size_t count, SeededRandom& random) {
  std::vector<std::uint64_t> table{0};
  while (table.size() < count) table.push_back(table.back() + distance(kind, random));
  return table;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(even_search)

BOOST_AUTO_TEST_CASE(finds_what_a_search_by_halves_finds_in_any_table) {
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    SeededRandom random(seed);
    const auto table = ascending(seed % 4, 1 + random.below(seed < 200 ? 20 : 3000), random);
    std::size_t log = 1;
    while ((std::size_t{1} << log) < table.size()) ++log;
    const std::uint64_t total = table.back() + 1 + random.below(5000);
    for (int i = 0; i < 200; ++i) {
      const std::uint64_t of = table[random.below(table.size())];
      const std::uint64_t at =
          random.below(2) == 0 ? of : std::min(of + random.below(5000), total - 1);
      std::size_t looks = 0;
      const std::size_t found = searched(table, at, total, looks);
      BOOST_REQUIRE_MESSAGE(found == looked_up(table, at), "seed " << seed << ", at " << at);
      BOOST_REQUIRE_MESSAGE(looks <= 4 + 2 * log, "seed " << seed << ": " << looks << " looks");
    }
  }
}

BOOST_AUTO_TEST_CASE(looks_at_few_places_of_an_even_table) {
  SeededRandom random(1);
  const auto table = ascending(0, 100'000, random);
  for (int i = 0; i < 1000; ++i) {
    std::size_t looks = 0;
    const std::uint64_t total = table.back() + 4096;
    searched(table, random.below(total), total, looks);
    BOOST_REQUIRE_MESSAGE(looks <= 4, looks << " looks");
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace corail::testing
