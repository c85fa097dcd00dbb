// What a read of an object has to ask for.
#include "rpc/object_want.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/units.h"
#include "engine/object/descriptor_check.h"

namespace corail::test {
namespace {

constexpr std::uint64_t kGranule = kGranuleBytes;
constexpr NodeId kOwner{7};

/// Stripes of two granules; the last one has one granule and a byte.
ObjectDescriptor object_of(std::uint32_t stripes) {
  ObjectDescriptor object;
  object.key = "a";
  object.generation = ObjectGeneration(1);
  object.stripe_size = 2 * kGranule;
  object.size = stripes * object.stripe_size - kGranule + 1;
  ObjectNode node;
  node.id = kOwner;
  node.addresses = {"owner:1"};
  object.nodes = {node};
  for (std::uint32_t i = 0; i < stripes; ++i) {
    ObjectChunk chunk;
    chunk.length = i + 1 < stripes ? object.stripe_size : kGranule + 1;
    object.chunks.push_back(chunk);
  }
  return object;
}

Result<ObjectWant> want_of(const ObjectDescriptor& object, std::vector<ObjectRange> ranges) {
  ReadObjectOptions options;
  options.ranges = std::move(ranges);
  return corail::want_of(object, kOwner, options);
}

BOOST_AUTO_TEST_SUITE(object_want)

BOOST_AUTO_TEST_CASE(ranges_are_widened_to_granules_and_those_in_one_granule_become_one) {
  const ObjectDescriptor object = object_of(3);
  const auto want = want_of(object, {{1, 1}, {3, kGranule}, {3 * kGranule, 1}});
  BOOST_REQUIRE(want.ok());
  const std::vector<ObjectRange> wide = {{0, 2 * kGranule}, {3 * kGranule, kGranule}};
  BOOST_TEST((want->demand.ranges == wide));
  BOOST_TEST(want->asked_bytes == kGranule + 2);
  BOOST_TEST(want->read_bytes == 3 * kGranule);
  BOOST_TEST(!want->exact());
  BOOST_TEST(want_of(object, {})->exact());
  BOOST_TEST(want_of(object, {{0, kGranule}})->exact());
}

BOOST_AUTO_TEST_CASE(granules_are_asked_for_where_a_stripe_is_read_in_part) {
  const ObjectDescriptor object = object_of(3);
  const auto want = want_of(object, {{kGranule, 2 * kGranule}});
  BOOST_REQUIRE(want.ok());
  BOOST_TEST((want->granules_of == std::vector<std::uint32_t>{0, 1}));
  BOOST_TEST(want->granules == 4U);
  const auto last = want_of(object, {{object.size - 1, 1}});
  BOOST_TEST((last->granules_of == std::vector<std::uint32_t>{2}));
  BOOST_TEST(last->granules == 2U);
  const ObjectExpectation expected = expectation_of(object, *want, {1, 2, 3, 4});
  BOOST_TEST((expected.granules[0] == std::vector<std::uint64_t>{1, 2}));
  BOOST_TEST((expected.granules[1] == std::vector<std::uint64_t>{3, 4}));
  BOOST_TEST(expected.granules[2].empty());
}

BOOST_AUTO_TEST_CASE(of_very_many_whole_stripes_no_granules_are_asked_for) {
  BOOST_TEST(want_of(object_of(8192), {})->granules == 16'384U);
  const ObjectDescriptor large = object_of(8193);
  BOOST_TEST(want_of(large, {})->granules == 0U);
  const auto but_one = want_of(large, {{kGranule, large.size - kGranule}});
  BOOST_TEST((but_one->granules_of == std::vector<std::uint32_t>{0}));
}

BOOST_AUTO_TEST_CASE(nothing_is_hashed_where_that_is_not_wanted) {
  ReadObjectOptions options;
  options.integrity = Integrity::kNone;
  options.ranges = {{5, 5}};
  BOOST_TEST(corail::want_of(object_of(3), kOwner, options)->granules_of.empty());
}

BOOST_AUTO_TEST_CASE(only_what_the_peer_has_can_be_read_of_it) {
  ObjectDescriptor object = object_of(3);
  ObjectNode other;
  other.id = NodeId(8);
  other.addresses = {"other:1"};
  object.nodes.push_back(other);
  object.chunks[1].node = 1;
  const auto all = want_of(object, {});
  BOOST_REQUIRE(!all.ok());
  BOOST_TEST((all.error().code() == Errc::kInvalidArgument));
  BOOST_TEST(all.error().detail().find("other:1") != std::string::npos);
  const auto mine = want_of(object, {{0, 2 * kGranule}, {4 * kGranule, 1}});
  BOOST_REQUIRE(mine.ok());
  BOOST_TEST((mine->stripes == std::vector<std::uint32_t>{0, 2}));
  BOOST_TEST(!corail::want_of(object, NodeId(9), ReadObjectOptions()).ok());
}

BOOST_AUTO_TEST_CASE(very_many_ranges_are_refused) {
  const ObjectDescriptor object = object_of(3);
  std::vector<ObjectRange> ranges;
  for (std::uint64_t i = 0; i < kMaxObjectRanges; ++i) ranges.push_back({2 * i, 1});
  BOOST_TEST(want_of(object, ranges).ok());
  ranges.push_back({2 * kMaxObjectRanges, 1});
  BOOST_TEST((want_of(object, ranges).error().code() == Errc::kInvalidArgument));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
