#include "engine/base/region_table.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <string>

#include "engine/base/random.h"

namespace corail {
namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

Region region(std::uint32_t id, std::uint64_t base, std::uint64_t length) {
  Region result;
  result.id = RegionId(id);
  result.base = base;
  result.length = length;
  return result;
}

Result<RegionTable> make(std::vector<Region> regions) {
  return RegionTable::make(TableGeneration(7), std::move(regions));
}

void refused(std::vector<Region> regions, const std::string& what) {
  const auto table = make(std::move(regions));
  BOOST_TEST_CONTEXT(what) {
    BOOST_REQUIRE(!table.ok());
    BOOST_TEST((table.error().code() == Errc::kProtocol));
    BOOST_TEST(!table.error().detail().empty());
  }
}

/// Disjoint regions in random order; some touch.
std::vector<Region> random_regions(SeededRandom& random) {
  std::vector<Region> regions;
  std::uint64_t at = random.below(10);
  for (std::uint64_t n = random.below(8); n > 0; --n) {
    const std::uint64_t length = 1 + random.below(12);
    regions.push_back(region(static_cast<std::uint32_t>(n), at, length));
    at += length + random.below(4);
  }
  for (std::size_t i = regions.size(); i > 1; --i) {
    std::swap(regions[i - 1], regions[random.below(i)]);
  }
  return regions;
}

BOOST_AUTO_TEST_SUITE(region_table)

BOOST_AUTO_TEST_CASE(finds_what_a_search_through_all_finds) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SeededRandom random(seed);
    const auto regions = random_regions(random);
    const auto table = make(regions);
    BOOST_REQUIRE(table.ok());
    BOOST_REQUIRE(table->generation() == TableGeneration(7));
    BOOST_REQUIRE_EQUAL(table->regions().size(), regions.size());
    for (std::uint64_t address = 0; address < 140; ++address) {
      for (std::uint64_t length = 0; length < 14; ++length) {
        const auto holder = std::find_if(regions.begin(), regions.end(), [&](const Region& r) {
          return length > 0 && address >= r.base && address + length <= r.base + r.length;
        });
        const std::ptrdiff_t found = table->find(address, length);
        BOOST_REQUIRE_EQUAL(found >= 0, holder != regions.end());
        if (found >= 0) {
          BOOST_REQUIRE(table->regions()[static_cast<std::size_t>(found)].id == holder->id);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_that_overflows_is_found) {
  const auto table = make({region(1, kMax - 100, 100), region(2, 0, 10)});
  BOOST_REQUIRE(table.ok());
  BOOST_TEST(table->find(kMax - 100, 100) == 1);
  BOOST_TEST(table->find(kMax - 100, 101) == -1);
  BOOST_TEST(table->find(kMax - 50, kMax) == -1);
  BOOST_TEST(table->find(kMax, 1) == -1);
  BOOST_TEST(table->find(5, kMax - 4) == -1);
}

BOOST_AUTO_TEST_CASE(remote_nonsense_is_refused) {
  refused({region(1, 100, 0)}, "empty");
  refused({region(1, kMax, 1), region(2, 0, 1)}, "ends behind the last address");
  refused({region(1, kMax - 5, 100)}, "overflows");
  refused({region(1, 1, kMax)}, "overflows by one");
  refused({region(1, 100, 10), region(2, 109, 10)}, "overlap by one byte");
  refused({region(1, 100, 10), region(2, 90, 11)}, "overlap by one byte, out of order");
  refused({region(1, 100, 100), region(2, 120, 10)}, "one inside another");
  refused({region(1, 100, 10), region(2, 100, 10)}, "the same twice");
  refused({region(1, 100, 10), region(2, 200, 10), region(1, 300, 10)}, "one id twice");
}

BOOST_AUTO_TEST_CASE(too_many_regions_are_refused) {
  std::vector<Region> regions;
  for (std::uint32_t i = 0; i < kMaxRegions; ++i) regions.push_back(region(i, i * 10, 10));
  BOOST_TEST(make(regions).ok());
  regions.push_back(region(kMaxRegions, kMaxRegions * 10, 10));
  refused(regions, "one too many");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
