#include <boost/test/unit_test.hpp>
#include <numeric>
#include <set>

#include "apps/p2p_bench/bench_shape.h"

namespace corail::bench {
namespace {

Shape seed_4k() {
  Shape shape;
  shape.blocks = 1000;
  return shape;
}

BOOST_AUTO_TEST_SUITE(shape)

BOOST_AUTO_TEST_CASE(the_seeds_shape_has_its_known_sizes) {
  const Shape shape = seed_4k();
  BOOST_TEST(shape.slots() == 288U);
  BOOST_TEST(shape.lanes() == 576U);
  BOOST_TEST(shape.payload_bytes() == 2250 * kMiB);
  const auto layout = make_layout(shape);
  BOOST_REQUIRE(layout.ok());
  BOOST_TEST(layout->lanes() == shape.lanes());
  BOOST_TEST(layout->block_bytes() == shape.block_bytes());
}

BOOST_AUTO_TEST_CASE(the_first_half_of_the_ranks_is_on_node_0) {
  const Shape shape = seed_4k();
  const auto layout = make_layout(shape);
  BOOST_REQUIRE(layout.ok());
  const auto parts = part_of_lanes(shape);
  BOOST_REQUIRE(parts.size() == shape.lanes());
  for (std::uint32_t layer = 0; layer < shape.layers; ++layer) {
    for (std::uint32_t rank = 0; rank < shape.ranks; ++rank) {
      const std::uint32_t slot = layer * shape.ranks + rank;
      const std::uint32_t node = rank < shape.ranks / 2 ? 0 : 1;
      BOOST_TEST(layout->slots()[slot].numa_node == static_cast<std::int32_t>(node));
      BOOST_TEST(parts[2 * slot] == node);
      BOOST_TEST(parts[2 * slot + 1] == node);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_node_has_a_part_and_the_parts_add_up) {
  for (std::uint32_t ranks = 1; ranks <= 9; ++ranks) {
    for (std::uint32_t nodes = 1; nodes <= ranks; ++nodes) {
      Shape shape;
      shape.ranks = ranks;
      shape.numa_nodes = nodes;
      shape.segments = 1;
      BOOST_REQUIRE(check_shape(shape).ok());
      const auto bytes = block_bytes_by_part(shape);
      BOOST_TEST(bytes.size() == nodes);
      for (const std::uint64_t share : bytes) BOOST_TEST(share > 0U);
      const auto sum = std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
      BOOST_TEST(sum == shape.block_bytes());
    }
  }
}

BOOST_AUTO_TEST_CASE(no_two_blocks_share_a_hash) {
  Shape shape;
  shape.sets = 3;
  std::vector<std::uint32_t> blocks(shape.blocks);
  std::iota(blocks.begin(), blocks.end(), 0U);
  std::set<std::string> seen;
  for (std::uint32_t set = 0; set < shape.sets; ++set) {
    const BlockKeys keys = make_keys(shape, set, blocks);
    BOOST_TEST(keys.hashes.size() == shape.blocks);
    seen.insert(keys.hashes.begin(), keys.hashes.end());
  }
  BOOST_TEST(seen.size() == std::size_t{shape.blocks} * shape.sets);
  BOOST_TEST(block_hash(1, 0, 0) != block_hash(2, 0, 0));
}

BOOST_AUTO_TEST_CASE(every_flag_of_the_shape_is_in_the_namespace) {
  const Shape shape;
  BOOST_TEST(make_keys(shape, 0, {}).name_space == name_space_of(shape));
  std::set<std::string> seen = {name_space_of(shape)};
  const auto changed = [&seen](auto change) {
    Shape other;
    change(other);
    return seen.insert(name_space_of(other)).second;
  };
  BOOST_TEST(changed([](Shape& s) { s.blocks = 127; }));
  BOOST_TEST(changed([](Shape& s) { s.layers = 1; }));
  BOOST_TEST(changed([](Shape& s) { s.ranks = 4; }));
  BOOST_TEST(changed([](Shape& s) { s.segments = 1; }));
  BOOST_TEST(changed([](Shape& s) { s.segment_bytes = 1; }));
  BOOST_TEST(changed([](Shape& s) { s.numa_nodes = 1; }));
  BOOST_TEST(changed([](Shape& s) { s.sets = 2; }));
  BOOST_TEST(changed([](Shape& s) { s.placement = Placement::kLaneMajor; }));
  BOOST_TEST(changed([](Shape& s) { s.seed = 2; }));
  Shape longest;
  longest.blocks = longest.layers = longest.ranks = longest.segments = ~0U;
  longest.segment_bytes = longest.numa_nodes = longest.sets = ~0U;
  longest.placement = Placement::kMixedNuma;
  longest.seed = ~0ULL;
  BOOST_TEST(name_space_of(longest).size() <= kMaxNamespaceBytes);
}

BOOST_AUTO_TEST_CASE(shapes_that_cannot_be_built_are_refused) {
  const auto refused = [](auto change) {
    Shape shape;
    change(shape);
    return !check_shape(shape).ok();
  };
  BOOST_TEST(check_shape(Shape{}).ok());
  BOOST_TEST(refused([](Shape& s) { s.blocks = 0; }));
  BOOST_TEST(refused([](Shape& s) { s.blocks = 65'537; }));
  BOOST_TEST(refused([](Shape& s) { s.layers = 0; }));
  BOOST_TEST(refused([](Shape& s) { s.ranks = 0; }));
  BOOST_TEST(refused([](Shape& s) { s.layers = s.ranks = 4'294'967'295U; }));
  BOOST_TEST(refused([](Shape& s) { s.segments = 0; }));
  BOOST_TEST(refused([](Shape& s) { s.segments = 3; }));
  BOOST_TEST(refused([](Shape& s) { s.segment_bytes = 0; }));
  BOOST_TEST(refused([](Shape& s) { s.segment_bytes = kMaxSegmentBytes + 1; }));
  BOOST_TEST(refused([](Shape& s) { s.numa_nodes = 0; }));
  BOOST_TEST(refused([](Shape& s) { s.numa_nodes = 9; }));
  BOOST_TEST(refused([](Shape& s) { s.sets = 0; }));
  BOOST_TEST(refused([](Shape& s) {
    s.placement = Placement::kMixedNuma;
    s.numa_nodes = 1;
  }));
  BOOST_TEST(refused([](Shape& s) {
    s.blocks = 65'536;
    s.layers = 65'536;
    s.ranks = s.numa_nodes = 1;
    s.segment_bytes = kMaxSegmentBytes;
    s.sets = 4'294'967'295U;
  }));
}

BOOST_AUTO_TEST_CASE(the_difference_of_two_shapes_names_the_flag) {
  const Shape here;
  BOOST_TEST(!first_difference(here, here));
  Shape there = here;
  there.segment_bytes = 8192;
  BOOST_TEST(first_difference(here, there).value() ==
             "--segment-bytes is 4096 here and 8192 there");
  there = here;
  there.placement = Placement::kLaneMajor;
  BOOST_TEST(first_difference(here, there).value() == "--layout is bump here and lane-major there");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::bench
