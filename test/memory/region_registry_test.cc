#include "engine/memory/region_registry.h"

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <thread>
#include <vector>

namespace corail {
namespace {

BOOST_AUTO_TEST_SUITE(region_registry)

BOOST_AUTO_TEST_CASE(every_change_is_a_new_generation_and_old_tables_stay_as_they_were) {
  RegionRegistry registry;
  const auto empty = registry.snapshot();
  const auto first = registry.add(0x10000, 0x1000, 0, {7});
  BOOST_REQUIRE(first);
  const auto one = registry.snapshot();
  const auto second = registry.add(0x11000, 0x1000, 1, {8});  // touches the first, and is its own
  BOOST_REQUIRE(second);
  const auto two = registry.snapshot();
  BOOST_REQUIRE(registry.set_keys(*first, {9, 10}));
  const auto keyed = registry.snapshot();
  BOOST_TEST(registry.remove(*first));
  const auto removed = registry.snapshot();

  BOOST_TEST(empty->regions().empty());
  BOOST_TEST(one->regions().size() == 1U);
  BOOST_TEST(two->regions().size() == 2U);
  BOOST_TEST((two->regions()[0].keys == std::vector<std::uint64_t>{7}));
  BOOST_TEST((keyed->regions()[0].keys == std::vector<std::uint64_t>{9, 10}));
  BOOST_TEST(removed->regions().size() == 1U);
  BOOST_TEST((removed->regions()[0].id == *second));
  BOOST_TEST(removed->regions()[0].numa_node == 1);
  BOOST_TEST((empty->generation() < one->generation() && one->generation() < two->generation()));
  BOOST_TEST((two->generation() < keyed->generation()));
  BOOST_TEST((keyed->generation() < removed->generation()));
}

BOOST_AUTO_TEST_CASE(ids_are_never_reused) {
  RegionRegistry registry;
  const auto first = registry.add(0x1000, 0x1000, 0, {});
  BOOST_REQUIRE(first);
  BOOST_TEST(registry.remove(*first));
  const auto again = registry.add(0x1000, 0x1000, 0, {});
  BOOST_REQUIRE(again);
  BOOST_TEST((*first != *again));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_published_changes_nothing) {
  RegionRegistry registry;
  BOOST_REQUIRE(registry.add(0x1000, 0x1000, 0, {}));
  const auto before = registry.snapshot();
  BOOST_TEST((registry.add(0x1FFF, 0x1000, 0, {}).error().code() == Errc::kInvalidArgument));
  BOOST_TEST((registry.add(0x9000, 0, 0, {}).error().code() == Errc::kInvalidArgument));
  BOOST_TEST((registry.add(~0ULL - 5, 100, 0, {}).error().code() == Errc::kInvalidArgument));
  BOOST_TEST((registry.set_keys(RegionId(99), {}).error().code() == Errc::kNotFound));
  BOOST_TEST(!registry.remove(RegionId(99)));
  BOOST_TEST((registry.snapshot() == before));
}

BOOST_AUTO_TEST_CASE(the_number_of_regions_is_bounded) {
  constexpr std::uint64_t kMost = 20;
  RegionRegistry registry(kMost);
  for (std::uint64_t i = 0; i < kMost; ++i) {
    BOOST_REQUIRE(registry.add((i + 1) * 0x1000, 0x1000, 0, {}));
  }
  const auto refused = registry.add((kMost + 1) * 0x1000, 0x1000, 0, {});
  BOOST_TEST((refused.error().code() == Errc::kTooLarge));
}

BOOST_AUTO_TEST_CASE(the_listener_is_told_of_every_new_generation) {
  RegionRegistry registry;
  std::vector<TableGeneration> told;
  registry.set_listener([&told](TableGeneration generation) { told.push_back(generation); });
  std::vector<TableGeneration> published;
  const auto id = registry.add(0x1000, 0x1000, 0, {});
  BOOST_REQUIRE(id);
  published.push_back(registry.snapshot()->generation());
  BOOST_REQUIRE(registry.set_keys(*id, {1}));
  published.push_back(registry.snapshot()->generation());
  BOOST_TEST(!registry.add(0x1000, 0x1000, 0, {}).ok());  // overlaps: nothing new
  BOOST_TEST(registry.remove(*id));
  published.push_back(registry.snapshot()->generation());
  BOOST_TEST((told == published));
  registry.set_listener(nullptr);
  BOOST_REQUIRE(registry.add(0x1000, 0x1000, 0, {}));
  BOOST_TEST(told.size() == 3U);
}

BOOST_AUTO_TEST_CASE(threads_see_whole_tables) {
  RegionRegistry registry;
  std::atomic<bool> stop{false};
  std::atomic<bool> broken{false};
  std::thread reader([&] {
    while (!stop) {
      const auto table = registry.snapshot();
      for (const Region& region : table->regions()) {
        if (region.length != 0x1000 || region.base != region.keys.at(0)) broken = true;
      }
      std::this_thread::yield();
    }
  });
  for (std::uint64_t round = 0; round < 200; ++round) {
    const std::uint64_t base = (round + 1) * 0x1000;
    const auto id = registry.add(base, 0x1000, 0, {base});
    if (!id || (round % 3 == 0 && !registry.remove(*id))) broken = true;
  }
  stop = true;
  reader.join();
  BOOST_TEST(!broken);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
