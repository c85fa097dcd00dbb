#include "engine/store/block_table.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <list>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"

namespace corail::testing {
namespace {

using detail::BlockTable;
using detail::kNoSlot;
using detail::PartRef;

using Key = std::pair<std::uint32_t, std::string>;

std::uint32_t find(const BlockTable& table, const Key& key) {
  return table.find(BlockTable::tag_of(key.first, key.second), key.first, key.second);
}

/// The keys, least recently used first.
std::list<Key> order_of(const BlockTable& table) {
  std::list<Key> order;
  for (std::uint32_t slot = table.oldest(); slot != kNoSlot; slot = table.block(slot).newer) {
    order.emplace_back(table.block(slot).name_space, table.hash(slot));
  }
  return order;
}

BOOST_AUTO_TEST_SUITE(block_table)

BOOST_AUTO_TEST_CASE(agrees_with_a_map_and_a_list) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SeededRandom random(seed);
    BlockTable table;
    std::map<Key, std::vector<PartRef>> model;
    std::list<Key> order;
    for (int step = 0; step < 1500; ++step) {
      const std::uint64_t number = random.below(400);
      // Equal hashes in several namespaces, hashes that are prefixes of others, all lengths.
      Key key(static_cast<std::uint32_t>(number % 3),
              std::string(1 + number % kMaxHashBytes, static_cast<char>('a' + number / 150)));
      const std::uint32_t slot = find(table, key);
      BOOST_REQUIRE_EQUAL(slot != kNoSlot, model.contains(key));
      if (slot == kNoSlot) {
        std::vector<PartRef> parts(1 + random.below(5));
        for (PartRef& part : parts) part.extent = static_cast<std::uint32_t>(random.below(1000));
        table.insert(key.first, key.second, parts);
        model[key] = parts;
        order.push_back(key);
      } else if (random.below(3) == 0) {
        table.erase(slot);
        model.erase(key);
        order.remove(key);
      } else {
        table.prefetch_index(BlockTable::tag_of(key.first, key.second));
        table.prefetch_block(BlockTable::tag_of(key.first, key.second));
        table.prefetch_rest(BlockTable::tag_of(key.first, key.second));
        table.touch(slot);
        order.remove(key);
        order.push_back(key);
        const auto parts = table.block(slot).parts();
        const auto& expected = model[key];
        BOOST_REQUIRE(std::equal(parts.begin(), parts.end(), expected.begin(), expected.end(),
                                 [](const PartRef& a, const PartRef& b) {
                                   return a.extent == b.extent && a.index == b.index;
                                 }));
      }
      BOOST_REQUIRE_EQUAL(table.size(), model.size());
      if (step % 50 == 0) BOOST_REQUIRE((order_of(table) == order));
    }
  }
}

BOOST_AUTO_TEST_CASE(grows_and_shrinks_without_losing_a_key) {
  BlockTable table;
  const PartRef part;
  constexpr std::uint32_t kKeys = 5000;
  for (std::uint32_t i = 0; i < kKeys; ++i) table.insert(0, std::to_string(i), {&part, 1});
  for (std::uint32_t i = 0; i < kKeys; i += 2) table.erase(find(table, {0, std::to_string(i)}));
  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < kKeys; ++i) {
    if ((find(table, {0, std::to_string(i)}) != kNoSlot) != (i % 2 == 1)) ++wrong;
  }
  BOOST_TEST(wrong == 0U);
  BOOST_TEST(find(table, {1, "1"}) == kNoSlot);
  // Equal tags do not make equal keys.
  const std::uint32_t tag = BlockTable::tag_of(0, "1");
  BOOST_TEST(table.find(tag, 0, "1") != kNoSlot);
  BOOST_TEST(table.find(tag, 1, "1") == kNoSlot);
  BOOST_TEST(table.find(tag, 0, "3") == kNoSlot);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::testing
