// What each --layout claims about the holder's memory, compared with where its store has the
// blocks.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <numeric>
#include <vector>

#include "apps/p2p_bench/save_steps.h"
#include "test/bench/stored_node.h"

namespace corail::bench {
namespace {

constexpr std::uint64_t kSegment = 256;
// Two nodes share the four ranks of two layers, K and V.
constexpr std::uint64_t kPartBytes = 2 * 2 * 2 * kSegment;

Shape shape_of(Placement placement) {
  Shape shape;
  shape.blocks = 150;
  shape.layers = 2;
  shape.ranks = 4;
  shape.segment_bytes = kSegment;
  shape.sets = 2;
  shape.placement = placement;
  return shape;
}

/// The first lane of the part of ranks 0 and 1, and of ranks 2 and 3.
constexpr std::uint32_t kFirstLanes[] = {0, 4};

/// Where a part of each block starts.
std::vector<std::uint64_t> part_starts(StoredNode& stored, std::uint32_t set, std::uint32_t lane) {
  std::vector<std::uint64_t> starts;
  for (std::uint32_t block = 0; block < 150; ++block) {
    starts.push_back(stored.address(set, block, lane));
  }
  return starts;
}

/// In a block the lanes of ranks 0 and 1 abut, layer by layer, and so do those of ranks 2 and 3.
bool lanes_abut(StoredNode& stored, std::uint32_t set, std::uint32_t block) {
  for (std::uint32_t lane = 0; lane < 16; ++lane) {
    const std::uint32_t first = kFirstLanes[lane % 8 / 4];
    const std::uint64_t rank = lane / 8 * 4 + lane % 4;
    if (stored.address(set, block, lane) != stored.address(set, block, first) + rank * kSegment) {
      return false;
    }
  }
  return true;
}

bool every_block_is_dense(StoredNode& stored) {
  for (std::uint32_t set = 0; set < 2; ++set) {
    for (std::uint32_t block = 0; block < 150; ++block) {
      if (!lanes_abut(stored, set, block)) return false;
    }
  }
  return true;
}

BOOST_AUTO_TEST_SUITE(layouts)

BOOST_AUTO_TEST_CASE(bump_and_permuted_lie_block_after_block) {
  for (const Placement placement : {Placement::kBump, Placement::kPermuted}) {
    StoredNode stored(shape_of(placement));
    BOOST_TEST(every_block_is_dense(stored));
    for (const std::uint32_t lane : kFirstLanes) {
      const auto starts = part_starts(stored, 1, lane);
      for (std::size_t i = 0; i < starts.size(); ++i) {
        BOOST_REQUIRE(starts[i] == starts[0] + i * kPartBytes);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(only_permuted_is_asked_for_in_another_order) {
  std::vector<std::uint32_t> ascending(150);
  std::iota(ascending.begin(), ascending.end(), 0U);
  for (const auto& [name, placement] : kPlacements) {
    const Shape shape = shape_of(placement);
    std::vector<std::uint32_t> order = request_order(shape, 0);
    BOOST_TEST((order == request_order(shape, 0)), name);
    BOOST_TEST((order == ascending) == (placement != Placement::kPermuted), name);
    if (placement == Placement::kPermuted) {
      BOOST_TEST((order != request_order(shape, 1)));
      Shape other = shape;
      other.seed = 2;
      BOOST_TEST((order != request_order(other, 0)));
    }
    std::ranges::sort(order);
    BOOST_TEST((order == ascending), name);
  }
}

BOOST_AUTO_TEST_CASE(lane_major_has_a_buffer_per_lane) {
  StoredNode stored(shape_of(Placement::kLaneMajor));
  for (std::uint32_t lane = 0; lane < 16; ++lane) {
    const auto starts = part_starts(stored, 0, lane);
    for (std::size_t i = 0; i < starts.size(); ++i) {
      BOOST_REQUIRE(starts[i] == starts[0] + i * kSegment);
    }
  }
}

BOOST_AUTO_TEST_CASE(batched_sets_take_turns_of_64_blocks) {
  StoredNode stored(shape_of(Placement::kBatched));
  BOOST_TEST(every_block_is_dense(stored));
  for (const std::uint32_t lane : kFirstLanes) {
    const std::uint64_t base = stored.address(0, 0, lane);
    for (std::uint32_t set = 0; set < 2; ++set) {
      const auto starts = part_starts(stored, set, lane);
      for (std::uint32_t i = 0; i < 128; ++i) {
        const std::uint64_t place = (i / 64 * 2 + set) * 64 + i % 64;
        BOOST_REQUIRE(starts[i] == base + place * kPartBytes);
      }
      for (std::uint32_t i = 128; i < 150; ++i) {
        BOOST_REQUIRE(starts[i] == base + (256 + set * 22 + i - 128) * kPartBytes);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(fragmented_has_every_other_block_elsewhere) {
  StoredNode stored(shape_of(Placement::kFragmented));
  BOOST_TEST(every_block_is_dense(stored));
  for (const std::uint32_t lane : kFirstLanes) {
    const auto starts = part_starts(stored, 0, lane);
    for (std::size_t i = 0; i < starts.size(); i += 2) {
      BOOST_REQUIRE(starts[i] == starts[0] + i * kPartBytes);
    }
    for (std::size_t i = 1; i < starts.size(); i += 2) {
      BOOST_REQUIRE(starts[i] == starts[1] + i / 2 * kPartBytes);
    }
    const bool between = starts[1] >= starts[0] && starts[1] <= starts[148];
    BOOST_TEST(!between);
  }
}

BOOST_AUTO_TEST_CASE(scattered_blocks_are_neighbours_by_chance_only) {
  StoredNode stored(shape_of(Placement::kScattered));
  BOOST_TEST(every_block_is_dense(stored));
  for (const std::uint32_t lane : kFirstLanes) {
    std::vector<std::uint64_t> all;
    std::uint32_t neighbours = 0;
    for (std::uint32_t set = 0; set < 2; ++set) {
      const auto starts = part_starts(stored, set, lane);
      for (std::size_t i = 1; i < starts.size(); ++i) {
        neighbours += starts[i] == starts[i - 1] + kPartBytes ? 1 : 0;
      }
      all.insert(all.end(), starts.begin(), starts.end());
    }
    BOOST_TEST(neighbours <= 10U);
    std::ranges::sort(all);
    for (std::size_t i = 0; i < all.size(); ++i) {
      BOOST_REQUIRE(all[i] == all[0] + i * kPartBytes);
    }
  }
}

BOOST_AUTO_TEST_CASE(mixed_numa_alternates_by_block_and_slot) {
  StoredNode stored(shape_of(Placement::kMixedNuma));
  const RegionId even = stored.locate(0, 0, 0).region;
  const RegionId odd = stored.locate(0, 0, 2).region;
  BOOST_TEST((even != odd));
  for (std::uint32_t set = 0; set < 2; ++set) {
    for (std::uint32_t block = 0; block < 150; ++block) {
      for (std::uint32_t lane = 0; lane < 16; ++lane) {
        const bool at_even = (block + lane / 2) % 2 == 0;
        BOOST_REQUIRE((stored.locate(set, block, lane).region == (at_even ? even : odd)));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_node_holds_what_is_saved_there) {
  for (const auto& [name, placement] : kPlacements) {
    const Shape shape = shape_of(placement);
    const auto held = held_bytes_by_node(shape);
    const auto of_set = set_bytes_by_node(shape);
    BOOST_TEST(of_set[0] + of_set[1] == shape.payload_bytes(), name);
    const std::uint64_t twice = placement == Placement::kFragmented ? shape.stored_bytes() / 2 : 0;
    BOOST_TEST(held[0] + held[1] == shape.stored_bytes() + twice, name);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::bench
