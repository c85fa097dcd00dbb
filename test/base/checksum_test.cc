#include "engine/base/checksum.h"

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <vector>

#include "engine/base/random.h"

namespace corail {
namespace {

using Block = std::vector<std::string>;  // one segment a lane

Checksum64 checksum(const Block& block, std::uint64_t identity) {
  std::uint64_t sum = 0;
  for (std::uint32_t lane = 0; lane < block.size(); ++lane) {
    sum += lane_term(xxh3_64(block[lane]), lane);
  }
  return block_checksum(sum, identity);
}

Block random_block(SeededRandom& random) {
  Block block(2 + random.below(8));
  const std::size_t size = 1 + random.below(100);
  for (std::string& segment : block) {
    for (std::size_t i = 0; i < size; ++i) segment += static_cast<char>(random.next());
  }
  return block;
}

BOOST_AUTO_TEST_SUITE(checksum_suite)

// The values are part of the wire contract: both ends must agree, whatever they were built with.
BOOST_AUTO_TEST_CASE(known_values) {
  BOOST_TEST(xxh3_64(std::string_view()) == 0x2D06800538D394C2U);
  BOOST_TEST(mix64(0) == 0U);
  BOOST_TEST(mix64(0x9E3779B97F4A7C15U) == 0xE220A8397B1DCDAFU);  // first output of splitmix64(0)
}

BOOST_AUTO_TEST_CASE(does_not_depend_on_the_order_of_arrival) {
  SeededRandom random(1);
  for (int i = 0; i < 100; ++i) {
    const Block block = random_block(random);
    std::uint64_t forwards = 0;
    std::uint64_t backwards = 0;
    for (std::uint32_t lane = 0; lane < block.size(); ++lane) {
      const auto mirrored = static_cast<std::uint32_t>(block.size()) - 1 - lane;
      forwards += lane_term(xxh3_64(block[lane]), lane);
      backwards += lane_term(xxh3_64(block[mirrored]), mirrored);
    }
    BOOST_REQUIRE_EQUAL(forwards, backwards);
  }
}

BOOST_AUTO_TEST_CASE(depends_on_every_byte_every_position_and_the_identity) {
  SeededRandom random(2);
  for (int i = 0; i < 300; ++i) {
    const Block block = random_block(random);
    const std::uint64_t identity = random.next();
    const Checksum64 right = checksum(block, identity);

    Block flipped = block;
    std::string& victim = flipped[random.below(flipped.size())];
    victim[random.below(victim.size())] ^= static_cast<char>(1U << random.below(8));
    BOOST_REQUIRE(checksum(flipped, identity) != right);

    Block swapped = block;
    const std::size_t a = random.below(block.size());
    const std::size_t b = (a + 1 + random.below(block.size() - 1)) % block.size();
    std::swap(swapped[a], swapped[b]);
    if (block[a] != block[b]) BOOST_REQUIRE(checksum(swapped, identity) != right);

    Block shifted = block;
    std::rotate(shifted[a].begin(), shifted[a].begin() + 1, shifted[a].end());
    if (shifted[a] != block[a]) BOOST_REQUIRE(checksum(shifted, identity) != right);

    Block missing = block;
    missing.pop_back();
    BOOST_REQUIRE(checksum(missing, identity) != right);

    BOOST_REQUIRE(checksum(block, identity ^ (1ULL << random.below(64))) != right);
  }
}

// All lanes of a block may hold the same bytes, zeros for example.
BOOST_AUTO_TEST_CASE(equal_segments_do_not_cancel_out) {
  std::set<std::uint64_t> sums;
  for (std::size_t lanes = 1; lanes < 200; ++lanes) {
    const Block block(lanes, std::string(64, '\0'));
    BOOST_REQUIRE(sums.insert(checksum(block, 0).value()).second);
  }
}

BOOST_AUTO_TEST_CASE(the_parts_of_an_identity_keep_their_borders) {
  std::set<std::uint64_t> seen;
  const std::string text = "abcdef";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    for (std::uint64_t layout = 0; layout < 3; ++layout) {
      BOOST_TEST(seen.insert(block_identity(text.substr(0, cut), text.substr(cut), layout)).second);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
