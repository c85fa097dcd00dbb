#include "apps/p2p_bench/memory_facts.h"

#include <boost/test/unit_test.hpp>

#include "engine/base/units.h"
#include "engine/memory/slab.h"

namespace corail::bench {
namespace {

constexpr const char* kPlain = "slab of 2 MiB, anonymous, plain pages, NUMA node 0";
constexpr const char* kHuge = "slab of 2 MiB, anonymous, huge pages, NUMA node 0";
constexpr const char* kLabel =
    "slab of 2 MiB, anonymous, plain pages, NUMA node 1 as a label only (mbind: no)";

BOOST_AUTO_TEST_SUITE(memory)

BOOST_AUTO_TEST_CASE(facts_are_what_the_slab_knows_of_itself) {
  for (const bool huge : {false, true}) {
    for (const std::int32_t node : {0, 1, 1023, kAnyNumaNode}) {
      SlabOptions options;
      options.bytes = 2 * kMiB;
      options.numa_node = node;
      options.huge_pages = huge;
      const auto slab = Slab::create(options);
      BOOST_REQUIRE(slab.ok());
      const auto facts = memory_facts({(*slab)->describe()}, huge);
      BOOST_REQUIRE(facts.has_value());
      BOOST_TEST(facts->huge_pages == (*slab)->huge());
      BOOST_TEST(facts->numa_bound == (*slab)->numa_bound());
      const bool lacking = huge != (*slab)->huge() || !(*slab)->numa_bound();
      BOOST_TEST(facts->missing.size() == (lacking ? 1U : 0U));
    }
  }
}

BOOST_AUTO_TEST_CASE(only_what_was_asked_for_is_missing) {
  BOOST_TEST(memory_facts({kPlain}, false)->missing.empty());
  BOOST_TEST(memory_facts({kPlain}, true)->missing.size() == 1U);
  BOOST_TEST(memory_facts({kHuge}, true)->missing.empty());
  BOOST_TEST(!memory_facts({}, true).has_value());
}

BOOST_AUTO_TEST_CASE(one_slab_that_lacks_something_is_enough) {
  const auto mixed = memory_facts({kHuge, kPlain, kLabel, kLabel}, true);
  BOOST_REQUIRE(mixed.has_value());
  BOOST_TEST(!mixed->huge_pages);
  BOOST_TEST(!mixed->numa_bound);
  const std::vector<std::string> expected = {kPlain, kLabel};
  BOOST_TEST(mixed->missing == expected);
}

BOOST_AUTO_TEST_CASE(many_kinds_of_slabs_are_counted) {
  std::vector<std::string> lines;
  for (int node = 0; node < 1000; ++node) lines.push_back(kLabel + std::to_string(node));
  const auto facts = memory_facts(lines, false);
  BOOST_REQUIRE(facts.has_value());
  BOOST_TEST(facts->missing.size() == kMaxMissing);
  BOOST_TEST(facts->missing.back() == "and 993 more slabs");
}

BOOST_AUTO_TEST_CASE(facts_survive_the_pipe) {
  const auto facts = memory_facts({kHuge, kPlain}, true);
  const auto back = decode_memory(encode_memory(facts));
  BOOST_REQUIRE(back.has_value());
  BOOST_TEST(back->huge_pages == facts->huge_pages);
  BOOST_TEST(back->numa_bound == facts->numa_bound);
  BOOST_TEST(back->missing == facts->missing);
  BOOST_TEST(!decode_memory(encode_memory(std::nullopt)).has_value());
  for (const char* bad : {"[]", "1", "{}", R"({"huge_pages":true,"numa_bound":1,"missing":[]})",
                          R"({"huge_pages":true,"numa_bound":true,"missing":[1]})",
                          R"({"huge_pages":true,"numa_bound":true,"missing":{}})"}) {
    BOOST_TEST(!decode_memory(nlohmann::json::parse(bad)).has_value(), bad);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::bench
