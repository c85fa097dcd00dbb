#include "engine/read/integrity.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/checksum.h"
#include "engine/base/random.h"
#include "engine/plan/slice_cursor.h"

namespace corail::testing {
namespace {

/// Blocks in made-up remote memory, and a local copy as the reads would leave it.
struct Fixture {
  std::shared_ptr<const BlockPlan> plan;
  std::vector<std::vector<std::byte>> chunks;
  BlockExpectation expected;

  std::vector<std::byte*> bases() {
    std::vector<std::byte*> all;
    for (auto& chunk : chunks) all.push_back(chunk.data());
    return all;
  }
  std::span<std::byte> segment(std::uint32_t block, std::uint32_t lane) {
    const BlockPlan::Place place = plan->locate(block, lane);
    return std::span(chunks[place.chunk]).subspan(place.offset, place.bytes);
  }
};

/// Block-major with a gap now and then; some segments are larger than a READ, so that slices end
/// inside them; several chunks.
Fixture make_fixture(std::uint64_t seed) {
  SeededRandom random(seed);
  std::vector<Slot> slots;
  for (std::uint64_t i = 0, n = 1 + random.below(6); i < n; ++i) {
    const bool large = random.below(4) == 0;
    slots.push_back({static_cast<std::uint32_t>(1 + random.below(large ? 900 : 50)),
                     static_cast<std::uint32_t>(random.below(40)), 0});
  }
  auto layout = std::make_shared<const Layout>(Layout::make(std::move(slots)).value());
  const auto blocks = static_cast<std::uint32_t>(1 + random.below(12));
  RunTableBuilder builder;
  std::vector<std::uint64_t> starts;
  std::uint64_t end = 4096;
  for (std::uint32_t block = 0; block < blocks; ++block) {
    starts.push_back(end);
    end += layout->block_bytes() + (random.below(3) == 0 ? 64 : 0);
  }
  if (random.below(2) == 0) std::reverse(starts.begin(), starts.end());
  std::uint64_t offset = 0;
  for (const std::uint32_t bytes : layout->lane_bytes()) {
    for (const std::uint64_t start : starts) builder.add(start + offset);
    builder.end_lane();
    offset += bytes;
  }
  Region region;
  region.base = 0;
  region.length = end;
  const auto regions = RegionTable::make(TableGeneration(1), {region}).value();
  PlanLimits limits;
  limits.max_read_bytes = 1 + random.below(600);
  limits.max_chunk_bytes = 2000;

  Fixture fixture;
  fixture.plan = std::make_shared<const BlockPlan>(
      plan_block_read(builder.take(), layout, blocks, regions, limits).value());
  for (const ChunkSpec& chunk : fixture.plan->chunks()) {
    auto& bytes = fixture.chunks.emplace_back(chunk.bytes);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  }
  // What a holder computes at save.
  std::vector<std::string> hashes;
  std::vector<std::uint64_t> checksums;
  for (std::uint32_t block = 0; block < blocks; ++block) {
    std::uint64_t sum = 0;
    for (std::uint32_t lane = 0; lane < layout->lanes(); ++lane) {
      sum += lane_term(xxh3_64(std::span<const std::byte>(fixture.segment(block, lane))), lane);
    }
    hashes.push_back("hash " + std::to_string(block));
    checksums.push_back(
        block_checksum(sum, block_identity("ns", hashes.back(), layout->id())).value());
  }
  fixture.expected = expect_blocks("ns", hashes, layout->id(), std::move(checksums));
  return fixture;
}

/// A slice on its way: lands in pieces.
struct Flight {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t landed = 0;
};

/// Several verifiers, each with some slices in flight that land in small pieces and in any order.
class Rails {
 public:
  Rails(Fixture& fixture, std::size_t rails, std::uint64_t seed)
      : random_(seed), cursor_(*fixture.plan, fixture.plan->max_read_bytes(), 16, 4) {
    for (std::size_t i = 0; i < rails; ++i) {
      verifiers_.push_back(std::make_unique<BlockVerifier>(fixture.plan, fixture.bases()));
    }
    flights_.resize(rails);
  }

  /// Lands everything; `flush_one_in` slices are flushed on the way and land again, anywhere.
  void run(std::uint64_t flush_one_in) {
    while (step(flush_one_in)) {
    }
  }

  IntegrityOutcome join(const BlockExpectation& expected) {
    std::vector<BlockVerifier*> all;
    for (const auto& verifier : verifiers_) all.push_back(verifier.get());
    return join_verifiers(all, expected);
  }

  BlockVerifier& verifier(std::size_t i) { return *verifiers_[i]; }

 private:
  bool step(std::uint64_t flush_one_in) {
    const std::size_t rail = random_.below(verifiers_.size());
    auto& mine = flights_[rail];
    if (mine.size() < 3) {
      if (!again_.empty()) {
        mine.push_back(again_.back());
        again_.pop_back();
      } else if (const auto cut = cursor_.take(1 + random_.below(800))) {
        mine.push_back({cut->linear, cut->linear + cut->length, cut->linear});
      }
    }
    if (mine.empty()) return std::ranges::any_of(flights_, [](auto& all) { return !all.empty(); });
    const std::size_t index = random_.below(mine.size());
    Flight& flight = mine[index];
    const bool landed = flight.landed == flight.to;
    if (!landed) {
      const std::uint64_t piece = std::min(flight.to - flight.landed, 1 + random_.below(300));
      verifiers_[rail]->landed(flight.landed, flight.landed + piece);
      flight.landed += piece;
    }
    // The outcome comes in a step of its own: other slices land between the last byte and it.
    const bool flushed = flush_one_in != 0 && random_.below(flush_one_in) == 0;
    if (flushed) {
      verifiers_[rail]->restart(flight.from, flight.to);
      again_.push_back({flight.from, flight.to, flight.from});
    }
    if (flushed || landed) mine.erase(mine.begin() + static_cast<std::ptrdiff_t>(index));
    return true;
  }

  SeededRandom random_;
  SliceCursor cursor_;
  std::vector<std::unique_ptr<BlockVerifier>> verifiers_;
  std::vector<std::vector<Flight>> flights_;
  std::vector<Flight> again_;
};

/// Lands the whole plan in one piece per span.
IntegrityOutcome verify_plainly(Fixture& fixture) {
  BlockVerifier verifier(fixture.plan, fixture.bases());
  for (const auto& span : fixture.plan->spans()) {
    verifier.landed(span.linear, span.linear + span.length);
  }
  BlockVerifier* only = &verifier;
  return join_verifiers(std::span(&only, 1), fixture.expected);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(integrity)

BOOST_AUTO_TEST_CASE(any_order_of_landing_over_any_rails_verifies_every_byte) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Fixture fixture = make_fixture(seed);
    Rails rails(fixture, 1 + seed % 5, seed);
    rails.run(0);
    const IntegrityOutcome outcome = rails.join(fixture.expected);
    BOOST_REQUIRE_MESSAGE(outcome.mismatched_blocks == 0, "seed " << seed);
    BOOST_REQUIRE_EQUAL(outcome.verified_bytes, fixture.plan->total_bytes());
    BOOST_REQUIRE(outcome.mismatches.empty());
  }
}

BOOST_AUTO_TEST_CASE(flushed_slices_count_once) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    Fixture fixture = make_fixture(seed);
    Rails rails(fixture, 1 + seed % 4, seed);
    rails.run(3 + seed % 5);
    const IntegrityOutcome outcome = rails.join(fixture.expected);
    BOOST_REQUIRE_MESSAGE(outcome.mismatched_blocks == 0, "seed " << seed);
  }
}

BOOST_AUTO_TEST_CASE(one_wrong_bit_anywhere_is_found_and_its_block_named) {
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
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
    BOOST_REQUIRE(outcome.mismatches == std::vector<std::uint32_t>{block});
    BOOST_REQUIRE_EQUAL(outcome.verified_bytes,
                        fixture.plan->total_bytes() - fixture.plan->layout().block_bytes());
  }
}

BOOST_AUTO_TEST_CASE(bytes_that_never_landed_are_missed) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
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
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
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
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
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

BOOST_AUTO_TEST_CASE(missing_checksums_are_mismatches_and_the_list_is_bounded) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
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
  BOOST_TEST(outcome.mismatches.size() == kMaxListedMismatches);
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
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
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
