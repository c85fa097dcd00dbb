#include "engine/plan/run_table.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <limits>
#include <vector>

#include "engine/base/random.h"
#include "engine/plan/run_extent.h"
#include "test/plan/scenario.h"

namespace corail::testing {
namespace {

RunTable encode_lane(const std::vector<std::uint64_t>& addresses) {
  return encode({addresses}, nullptr);
}

std::vector<std::uint64_t> sequence(std::uint64_t base, std::int64_t stride, std::uint32_t count) {
  std::vector<std::uint64_t> addresses;
  for (std::uint32_t i = 0; i < count; ++i) {
    addresses.push_back(base + i * static_cast<std::uint64_t>(stride));
  }
  return addresses;
}

/// The least number of runs that any encoding needs, by trying all of them.
std::size_t least_runs(const std::vector<std::uint64_t>& addresses) {
  std::vector<std::size_t> least(addresses.size() + 1, 0);
  for (std::size_t end = 1; end <= addresses.size(); ++end) {
    least[end] = end;
    for (std::size_t begin = 0; begin < end; ++begin) {
      bool one_run = true;
      for (std::size_t i = begin + 2; i < end; ++i) {
        one_run &= addresses[i] - addresses[i - 1] == addresses[begin + 1] - addresses[begin];
      }
      for (std::size_t i = begin + 1; i < end; ++i) one_run &= addresses[i] != addresses[i - 1];
      if (one_run) least[end] = std::min(least[end], least[begin] + 1);
    }
  }
  return least.back();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(run_table)

BOOST_AUTO_TEST_CASE(one_save_is_one_run_a_lane) {
  const RunTable table = encode({sequence(4096, 8192, 500), sequence(900'000'000, 8192, 500)}, {});
  BOOST_TEST(table.runs() == 2U);
  BOOST_TEST(table.count[0] == 500U);
  BOOST_TEST(table.stride[1] == 8192);
  BOOST_TEST(table.runs_per_lane == (std::vector<std::uint32_t>{1, 1}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(two_saves_are_two_runs_a_lane_wherever_the_second_lies) {
  // A stride taken from the last difference makes 501 of these.
  for (const std::uint64_t second : {std::uint64_t{1} << 40, std::uint64_t{4096}}) {
    auto addresses = sequence(1'000'000'000, 8192, 500);
    const auto more = sequence(second, 8192, 500);
    addresses.insert(addresses.end(), more.begin(), more.end());
    const RunTable table = encode_lane(addresses);
    BOOST_TEST(table.runs() == 2U);
    BOOST_TEST(expand_lane(table, 0) == addresses, boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(ascending_descending_equal_and_single) {
  BOOST_TEST(encode_lane(sequence(1 << 20, -4096, 100)).runs() == 1U);
  BOOST_TEST(encode_lane(sequence(1 << 20, -4096, 100)).stride[0] == -4096);
  BOOST_TEST(encode_lane({77}).runs() == 1U);
  BOOST_TEST(encode_lane({77}).count[0] == 1U);
  // Equal addresses are never a run: no stride says "the same again".
  BOOST_TEST(encode_lane({77, 77, 77}).runs() == 3U);
  // Up and down again.
  BOOST_TEST(encode_lane({0, 10, 20, 10, 0}).runs() == 2U);
  // A lone address before a save costs no more than a run of its own.
  BOOST_TEST(encode_lane({5000, 100, 200, 300, 400}).runs() == 2U);
}

BOOST_AUTO_TEST_CASE(strides_that_no_64_bits_hold_break_the_run) {
  const std::uint64_t far = 0x8000'0000'0000'0000ULL;
  BOOST_TEST(encode_lane({0, far}).runs() == 2U);
  BOOST_TEST(encode_lane({far, 0}).runs() == 2U);
  BOOST_TEST(encode_lane({0, far - 1}).runs() == 1U);
  BOOST_TEST(encode_lane({far - 1, 0}).stride[0] == -std::numeric_limits<std::int64_t>::max());
}

BOOST_AUTO_TEST_CASE(runs_break_where_regions_do) {
  std::vector<Region> regions(2);
  regions[0].id = RegionId(1);
  regions[0].base = 1000;
  regions[0].length = 1000;
  regions[1].id = RegionId(2);
  regions[1].base = 2000;
  regions[1].length = 1000;
  const RegionTable table = RegionTable::make(TableGeneration(1), regions).value();
  const RunTable runs = encode({sequence(1000, 100, 20)}, &table);
  BOOST_TEST(runs.count == (std::vector<std::uint32_t>{10, 10}), boost::test_tools::per_element());
  BOOST_TEST(encode({sequence(1000, 100, 20)}, nullptr).runs() == 1U);
}

BOOST_AUTO_TEST_CASE(greedy_is_optimal_and_round_trips) {
  SeededRandom random(42);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::uint64_t> addresses;
    for (std::uint64_t i = 0, n = 1 + random.below(12); i < n; ++i) {
      addresses.push_back(1000 + 10 * random.below(5));
    }
    const RunTable table = encode_lane(addresses);
    BOOST_REQUIRE(expand_lane(table, 0) == addresses);
    BOOST_REQUIRE_EQUAL(table.runs(), least_runs(addresses));
  }
}

BOOST_AUTO_TEST_CASE(the_magnitude_of_any_stride) {
  BOOST_TEST(stride_magnitude(0) == 0U);
  BOOST_TEST(stride_magnitude(-1) == 1U);
  BOOST_TEST(stride_magnitude(7) == 7U);
  BOOST_TEST(stride_magnitude(std::numeric_limits<std::int64_t>::min()) == 1ULL << 63);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace corail::testing
