// What the checks of landing payload cost: the verifier against plain xxh3 over the same bytes, for
// 256 MiB of the measured case's shape (segments of 4 KiB), in pieces that stay in the cache.
#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/checksum.h"
#include "engine/base/units.h"
#include "engine/plan/block_plan.h"
#include "engine/read/integrity.h"

namespace corail {
namespace {

constexpr std::uint32_t kSegment = 4096;
constexpr std::uint32_t kSlots = 256;
constexpr std::uint32_t kBlocks = 128;
constexpr std::uint64_t kTotal = std::uint64_t{kSegment} * kSlots * 2 * kBlocks;
static_assert(kTotal == 256 * kMiB);

std::shared_ptr<const BlockPlan> make_plan() {
  auto layout = std::make_shared<const Layout>(
      Layout::make(std::vector<Slot>(kSlots, Slot{kSegment, kSegment, 0})).value());
  RunTableBuilder builder;
  for (std::uint64_t lane = 0; lane < layout->lanes(); ++lane) {
    for (std::uint64_t block = 0; block < kBlocks; ++block) {
      builder.add(block * layout->block_bytes() + lane * kSegment);
    }
    builder.end_lane();
  }
  Region region;
  region.length = kTotal;
  const auto regions = RegionTable::make(TableGeneration(1), {region}).value();
  PlanLimits limits;
  limits.max_read_bytes = kMiB;
  limits.max_chunk_bytes = kMiB;
  return std::make_shared<const BlockPlan>(
      plan_block_read(builder.take(), layout, kBlocks, regions, limits).value());
}

/// Every chunk is the same MiB, so that the bytes are in the cache as they are after a receive.
void verifier(benchmark::State& state) {
  const auto plan = make_plan();
  const auto piece = static_cast<std::uint64_t>(state.range(0));
  std::vector<std::byte> memory(kMiB, std::byte{0x5A});
  const std::vector<std::byte*> bases(plan->chunks().size(), memory.data());
  for (auto _ : state) {
    BlockVerifier hashing(plan, bases);
    for (const auto& span : plan->spans()) {
      const std::uint64_t end = span.linear + span.length;
      for (std::uint64_t from = span.linear; from < end; from += piece) {
        hashing.landed(from, std::min(end, from + piece));
      }
    }
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kTotal));
}
BENCHMARK(verifier)
    ->ArgName("landing_bytes")
    ->Arg(1 << 20)
    ->Arg(1 << 18)
    ->Arg(100'001)  // ends inside segments
    ->Arg(kSegment)
    ->Unit(benchmark::kMillisecond);

void plain_xxh3(benchmark::State& state) {
  std::vector<std::byte> memory(kMiB, std::byte{0x5A});
  for (auto _ : state) {
    std::uint64_t sum = 0;
    for (std::uint64_t at = 0; at < kTotal; at += kSegment) {
      sum += xxh3_64(std::span<const std::byte>(memory).subspan(at % kMiB, kSegment));
    }
    benchmark::DoNotOptimize(sum);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(kTotal));
}
BENCHMARK(plain_xxh3)->Unit(benchmark::kMillisecond);

/// What the join adds after the last byte has landed, for four rails.
void join(benchmark::State& state) {
  const auto plan = make_plan();
  std::vector<std::byte> memory(kMiB, std::byte{0x5A});
  const std::vector<std::byte*> bases(plan->chunks().size(), memory.data());
  BlockExpectation expected;
  expected.identities.resize(kBlocks);
  expected.checksums.resize(kBlocks);
  std::vector<std::unique_ptr<BlockVerifier>> rails;
  std::vector<BlockVerifier*> all;
  for (int i = 0; i < 4; ++i) {
    rails.push_back(std::make_unique<BlockVerifier>(plan, bases));
    all.push_back(rails.back().get());
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(join_verifiers(all, expected).mismatched_blocks);
  }
}
BENCHMARK(join)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace corail
