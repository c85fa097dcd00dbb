#include "rpc/rail_keys.h"

#include <boost/test/unit_test.hpp>
#include <utility>
#include <vector>

namespace corail {
namespace {

using Keys = std::vector<std::uint64_t>;

/// Regions with these keys each, by port.
RegionTable table_with(const std::vector<Keys>& keys) {
  std::vector<Region> regions;
  for (const Keys& of_region : keys) {
    Region region;
    region.id = RegionId(static_cast<std::uint32_t>(regions.size()));
    region.base = 4096 * (regions.size() + 1);
    region.length = 4096;
    region.keys = of_region;
    regions.push_back(std::move(region));
  }
  auto table = RegionTable::make(TableGeneration(1), std::move(regions));
  BOOST_TEST_REQUIRE(table.ok());
  return std::move(*table);
}

BOOST_AUTO_TEST_SUITE(rail_keys)

BOOST_AUTO_TEST_CASE(each_port_has_keys_of_its_own) {
  const RegionTable table = table_with({{11, 21}, {12, 22}});
  BOOST_TEST((keys_of_port(table, 0) == Keys{11, 12}));
  BOOST_TEST((keys_of_port(table, 1) == Keys{21, 22}));
}

BOOST_AUTO_TEST_CASE(a_key_that_the_holder_did_not_tell_is_0) {
  const RegionTable table = table_with({{11, 21}, {12}, {13, 0}, {}});
  BOOST_TEST((keys_of_port(table, 0) == Keys{11, 12, 13, 0}));
  BOOST_TEST((keys_of_port(table, 1) == Keys{21, 0, 0, 0}));
}

BOOST_AUTO_TEST_CASE(a_port_without_any_key_has_none) {
  const RegionTable table = table_with({{11, 0}, {12}});
  BOOST_TEST(keys_of_port(table, 1).empty());
  BOOST_TEST(keys_of_port(table, 7).empty());
  BOOST_TEST(keys_of_port(RegionTable(), 0).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
