#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <ranges>
#include <string>
#include <thread>
#include <vector>

#include "test/read/integrity_fixture.h"
#include "test/support/repetitions.h"

namespace corail::testing {

namespace {

/// 1 to `full`, or to fewer of them.
auto seeds(int full) {
  const auto last = static_cast<std::uint64_t>(test::repetitions(full));
  return std::views::iota(std::uint64_t{1}, last + 1);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(integrity)

BOOST_AUTO_TEST_CASE(any_order_of_landing_over_any_rails_verifies_every_byte) {
  for (const std::uint64_t seed : seeds(150)) {
    Fixture fixture = make_fixture(seed);
    Rails rails(fixture, 1 + seed % 5, seed);
    rails.run(0);
    const IntegrityOutcome outcome = rails.join(fixture.expected);
    BOOST_REQUIRE_MESSAGE(outcome.mismatched_blocks == 0, "seed " << seed);
    BOOST_REQUIRE_EQUAL(outcome.verified_bytes, fixture.plan->total_bytes());
  }
}

BOOST_AUTO_TEST_CASE(flushed_slices_count_once) {
  for (const std::uint64_t seed : seeds(150)) {
    Fixture fixture = make_fixture(seed);
    Rails rails(fixture, 1 + seed % 4, seed);
    rails.run(3 + seed % 5);
    const IntegrityOutcome outcome = rails.join(fixture.expected);
    BOOST_REQUIRE_MESSAGE(outcome.mismatched_blocks == 0, "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(one_wrong_bit_anywhere_is_found_and_its_block_named) {
  for (const std::uint64_t seed : seeds(150)) {
    Fixture fixture = make_fixture(seed);
    SeededRandom random(seed);
    const auto block = static_cast<std::uint32_t>(random.below(fixture.plan->blocks()));
    const auto lane = static_cast<std::uint32_t>(random.below(fixture.plan->layout().lanes()));
    const auto bytes = fixture.segment(block, lane);
    bytes[random.below(bytes.size())] ^= static_cast<std::byte>(1U << random.below(8));
    Rails rails(fixture, 3, seed);
    rails.run(0);
    const IntegrityOutcome outcome = rails.join(fixture.expected);
    BOOST_REQUIRE_EQUAL(outcome.mismatched_blocks, 1U);
    BOOST_REQUIRE_EQUAL(outcome.first_mismatch, block);
    BOOST_REQUIRE_EQUAL(outcome.verified_bytes,
                        fixture.plan->total_bytes() - fixture.plan->layout().block_bytes());
  }
}

BOOST_AUTO_TEST_CASE(bytes_that_never_landed_are_missed) {
  for (const std::uint64_t seed : seeds(100)) {
    Fixture fixture = make_fixture(seed);
    SeededRandom random(seed);
    const std::uint64_t hole = random.below(fixture.plan->total_bytes());
    BlockVerifier verifier(fixture.plan, fixture.bases());
    verifier.landed(0, hole);
    verifier.landed(hole + 1, fixture.plan->total_bytes());
    BlockVerifier* only = &verifier;
    const auto outcome = join_verifiers(std::span(&only, 1), fixture.expected);
    BOOST_REQUIRE_EQUAL(outcome.mismatched_blocks, 1U);
  }
}

BOOST_AUTO_TEST_CASE(bytes_that_landed_twice_are_noticed) {
  for (const std::uint64_t seed : seeds(100)) {
    Fixture fixture = make_fixture(seed);
    Rails rails(fixture, 2, seed);
    rails.run(0);
    // A whole segment once more, through the other rail; even where the sum is what is expected.
    const std::uint64_t linear = fixture.plan->linear_of(0, 0);
    rails.verifier(1).landed(linear, linear + fixture.plan->layout().lane_bytes()[0]);
    if (seed % 2 == 0) {
      std::uint64_t sum = 0;
      for (std::uint32_t lane = 0; lane < fixture.plan->layout().lanes(); ++lane) {
        const std::span<const std::byte> bytes = fixture.segment(0, lane);
        sum += lane_term(xxh3_64(bytes), lane) * (lane == 0 ? 2 : 1);
      }
      fixture.expected.checksums[0] = block_checksum(sum, fixture.expected.identities[0]).value();
    }
    BOOST_REQUIRE_EQUAL(rails.join(fixture.expected).mismatched_blocks, 1U);
  }
}

BOOST_AUTO_TEST_CASE(swapped_segments_and_swapped_blocks_are_found) {
  Fixture fixture = make_fixture(1);
  for (std::uint64_t seed = 1;; ++seed) {
    fixture = make_fixture(seed);
    if (fixture.plan->blocks() > 1) break;
  }
  std::ranges::swap_ranges(fixture.segment(0, 0), fixture.segment(1, 0));
  BOOST_TEST(verify_plainly(fixture).mismatched_blocks == 2U);
  std::ranges::swap_ranges(fixture.segment(0, 0), fixture.segment(1, 0));
  BOOST_TEST(verify_plainly(fixture).mismatched_blocks == 0U);
  // The right bytes under another hash are somebody else's block.
  std::swap(fixture.expected.identities[0], fixture.expected.identities[1]);
  BOOST_TEST(verify_plainly(fixture).mismatched_blocks == 2U);
}

BOOST_AUTO_TEST_CASE(two_lanes_of_equal_size_cannot_be_exchanged) {
  for (const std::uint64_t seed : seeds(100)) {
    Fixture fixture = make_fixture(seed);
    for (std::uint32_t lane = 1; lane < fixture.plan->layout().lanes(); ++lane) {
      const auto a = fixture.segment(0, 0);
      const auto b = fixture.segment(0, lane);
      if (a.size() != b.size() || std::ranges::equal(a, b)) continue;
      std::ranges::swap_ranges(a, b);
      BOOST_REQUIRE_EQUAL(verify_plainly(fixture).mismatched_blocks, 1U);
      std::ranges::swap_ranges(a, b);
    }
  }
}

BOOST_AUTO_TEST_CASE(missing_checksums_are_mismatches) {
  for (const std::uint64_t seed : seeds(50)) {
    Fixture fixture = make_fixture(seed);
    fixture.expected.checksums.pop_back();
    const auto outcome = verify_plainly(fixture);
    BOOST_REQUIRE_EQUAL(outcome.mismatched_blocks, 1U);
    BOOST_REQUIRE_EQUAL(outcome.first_mismatch, fixture.plan->blocks() - 1);
    fixture.expected = {};
    BOOST_REQUIRE_EQUAL(verify_plainly(fixture).mismatched_blocks, fixture.plan->blocks());
  }
  const auto layout = std::make_shared<const Layout>(Layout::make({{8, 0, 0}}).value());
  Region region;
  region.length = 8 * 100;
  const auto regions = RegionTable::make(TableGeneration(1), {region}).value();
  Fixture fixture;
  fixture.plan = std::make_shared<const BlockPlan>(
      plan_block_read(RunTable{{1}, {0}, {8}, {100}}, layout, 100, regions, PlanLimits{}).value());
  fixture.chunks.emplace_back(800);
  const auto outcome = verify_plainly(fixture);
  BOOST_TEST(outcome.mismatched_blocks == 100U);
  BOOST_TEST(outcome.first_mismatch == 0U);
}

BOOST_AUTO_TEST_CASE(more_checksums_than_hashes_have_no_identity) {
  const std::vector<std::string> hashes{"a", "b"};
  const auto expected = expect_blocks("ns", hashes, 7, {1, 2, 3});
  BOOST_TEST(expected.identities.size() == 2U);
  BOOST_TEST(expected.checksums.size() == 3U);
  BOOST_TEST(expected.identities[1] == block_identity("ns", "b", 7));
  BOOST_TEST(expect_blocks("ns", hashes, 7, {1}).identities.size() == 1U);
}

BOOST_AUTO_TEST_CASE(each_rail_verifies_on_its_own_thread) {
  for (const std::uint64_t seed : seeds(20)) {
    Fixture fixture = make_fixture(seed);
    SliceCursor cursor(*fixture.plan, fixture.plan->max_read_bytes(), 16, 4);
    std::vector<std::unique_ptr<BlockVerifier>> verifiers;
    std::vector<BlockVerifier*> all;
    for (int i = 0; i < 4; ++i) {
      verifiers.push_back(std::make_unique<BlockVerifier>(fixture.plan, fixture.bases()));
      all.push_back(verifiers.back().get());
    }
    std::vector<std::thread> threads;
    for (BlockVerifier* verifier : all) {
      threads.emplace_back([verifier, &cursor] {
        while (const auto cut = cursor.take(200)) {
          verifier->landed(cut->linear, cut->linear + cut->length);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    BOOST_REQUIRE_EQUAL(join_verifiers(all, fixture.expected).mismatched_blocks, 0U);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace corail::testing
