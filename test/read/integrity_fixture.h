#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/checksum.h"
#include "engine/base/random.h"
#include "engine/plan/slice_cursor.h"
#include "engine/read/integrity.h"

namespace corail::testing {

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
/// inside them; several chunks. Of
/// all lanes, or of a random range of them.
inline Fixture make_fixture(std::uint64_t seed, bool some_lanes = false) {
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
  LaneRange lanes{0, layout->lanes()};
  if (some_lanes) {
    lanes.begin = static_cast<std::uint32_t>(random.below(layout->lanes()));
    lanes.end =
        lanes.begin + 1 + static_cast<std::uint32_t>(random.below(layout->lanes() - lanes.begin));
  }

  Fixture fixture;
  fixture.plan = std::make_shared<const BlockPlan>(
      plan_block_read(builder.take(), layout, blocks, regions, limits, lanes).value());
  for (const ChunkSpec& chunk : fixture.plan->chunks()) {
    auto& bytes = fixture.chunks.emplace_back(chunk.bytes);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.next());
  }
  // What a holder computes at save.
  std::vector<std::string> hashes;
  std::vector<std::uint64_t> checksums;
  for (std::uint32_t block = 0; block < blocks; ++block) {
    std::uint64_t sum = 0;
    for (std::uint32_t lane = lanes.begin; lane < lanes.end; ++lane) {
      sum += lane_term(xxh3_64(std::span<const std::byte>(fixture.segment(block, lane))), lane);
    }
    if (some_lanes) {
      fixture.expected.lane_sums.push_back(sum);
      continue;
    }
    hashes.push_back("hash " + std::to_string(block));
    checksums.push_back(
        block_checksum(sum, block_identity("ns", hashes.back(), layout->id())).value());
  }
  if (some_lanes) return fixture;
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
inline IntegrityOutcome verify_plainly(Fixture& fixture) {
  BlockVerifier verifier(fixture.plan, fixture.bases());
  for (const auto& span : fixture.plan->spans()) {
    verifier.landed(span.linear, span.linear + span.length);
  }
  BlockVerifier* only = &verifier;
  return join_verifiers(std::span(&only, 1), fixture.expected);
}

}  // namespace corail::testing
