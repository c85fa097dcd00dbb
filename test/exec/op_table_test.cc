#include "engine/exec/op_table.h"

#include <boost/test/unit_test.hpp>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "engine/base/random.h"

namespace corail {
namespace {

BOOST_AUTO_TEST_SUITE(op_table)

BOOST_AUTO_TEST_CASE(behaves_like_a_map_and_never_finds_a_stale_key) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SeededRandom random(seed);
    const auto capacity = static_cast<std::uint32_t>(1 + random.below(20));
    OpTable<std::unique_ptr<std::uint64_t>> table(capacity);
    std::map<std::uint64_t, std::uint64_t> live;  // packed key -> value
    std::vector<std::uint64_t> dead;
    for (int step = 0; step < 2000; ++step) {
      const std::uint64_t value = random.next();
      if (random.below(2) == 0) {
        const auto key = table.insert(std::make_unique<std::uint64_t>(value));
        BOOST_REQUIRE_EQUAL(key.has_value(), live.size() < capacity);
        if (key) BOOST_REQUIRE(live.emplace(key->packed(), value).second);
      } else if (!live.empty()) {
        auto victim = live.begin();
        std::advance(victim, static_cast<std::ptrdiff_t>(random.below(live.size())));
        BOOST_REQUIRE(table.erase(OpKey::unpack(victim->first)));
        dead.push_back(victim->first);
        live.erase(victim);
      }
      BOOST_REQUIRE_EQUAL(table.size(), live.size());
      for (const auto& [key, expected] : live) {
        const auto* found = table.find(OpKey::unpack(key));
        BOOST_REQUIRE(found != nullptr);
        BOOST_REQUIRE_EQUAL(**found, expected);
      }
      if (!dead.empty()) {
        const OpKey stale = OpKey::unpack(dead[random.below(dead.size())]);
        BOOST_REQUIRE(table.find(stale) == nullptr);
        BOOST_REQUIRE(!table.erase(stale));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(rejects_forged_keys) {
  OpTable<int> table(4);
  const auto key = table.insert(7);
  BOOST_REQUIRE(key);
  BOOST_TEST(table.find(OpKey()) == nullptr);
  SeededRandom random(1);
  for (int i = 0; i < 10000; ++i) {
    const std::uint64_t forged = random.next();
    if (forged != key->packed()) BOOST_REQUIRE(table.find(OpKey::unpack(forged)) == nullptr);
  }
  BOOST_TEST(*table.find(*key) == 7);
}

BOOST_AUTO_TEST_CASE(packs_without_loss) {
  SeededRandom random(2);
  for (int i = 0; i < 1000; ++i) {
    const std::uint64_t packed = random.next();
    BOOST_REQUIRE_EQUAL(OpKey::unpack(packed).packed(), packed);
  }
}

BOOST_AUTO_TEST_CASE(visits_every_operation_and_lets_the_visitor_erase) {
  OpTable<int> table(8);
  for (int i = 0; i < 8; ++i) BOOST_REQUIRE(table.insert(i));
  std::set<int> seen;
  table.for_each([&](OpKey key, int& value) {
    seen.insert(value);
    if (value % 2 == 0) BOOST_REQUIRE(table.erase(key));
  });
  BOOST_TEST(seen.size() == 8U);
  BOOST_TEST(table.size() == 4U);
  table.for_each([](OpKey, int& value) { BOOST_TEST(value % 2 == 1); });
}

BOOST_AUTO_TEST_CASE(an_operation_may_use_the_table_while_it_is_destroyed) {
  OpTable<std::shared_ptr<void>> table(2);
  std::uint32_t size_seen = 99;
  const auto look = [&](void*) { size_seen = table.size(); };
  const auto key = table.insert(std::shared_ptr<void>(nullptr, look));
  BOOST_REQUIRE(key);
  BOOST_REQUIRE(table.erase(*key));
  BOOST_TEST(size_seen == 0U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
