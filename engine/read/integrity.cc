#include "engine/read/integrity.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/base/checksum.h"
#include "engine/read/pieces_of_blocks.h"

namespace corail {

BlockExpectation expect_blocks(std::string_view name_space, std::span<const std::string> hashes,
                               std::uint64_t layout_id, std::vector<std::uint64_t> checksums) {
  BlockExpectation expected;
  const std::size_t blocks = std::min(hashes.size(), checksums.size());
  expected.identities.reserve(blocks);
  for (const std::string& hash : hashes.first(blocks)) {
    expected.identities.push_back(block_identity(name_space, hash, layout_id));
  }
  expected.checksums = std::move(checksums);
  return expected;
}

IntegrityOutcome join_verifiers(std::span<BlockVerifier* const> verifiers,
                                const BlockExpectation& expected) {
  BlockVerifier& total = *verifiers.front();
  const BlockPlan& plan = total.plan();
  total.take_over(verifiers);

  IntegrityOutcome outcome;
  // Every block has the same lanes of the same lengths.
  const std::uint64_t bytes_of_a_block = plan.total_bytes() / std::max(1U, plan.blocks());
  const std::uint32_t lanes = PiecesOf<BlockPlan>::lanes(plan);
  const std::size_t known = std::min(expected.identities.size(), expected.checksums.size());
  const auto sum_is_right = [&](std::uint32_t block) {
    if (!expected.lane_sums.empty()) {
      return block < expected.lane_sums.size() && total.sum(block) == expected.lane_sums[block];
    }
    return block < known && block_checksum(total.sum(block), expected.identities[block]).value() ==
                                expected.checksums[block];
  };
  for (std::uint32_t block = 0; block < plan.blocks(); ++block) {
    if (total.count(block) == lanes && sum_is_right(block)) {
      outcome.verified_bytes += bytes_of_a_block;
      continue;
    }
    if (outcome.mismatched_blocks++ == 0) outcome.first_mismatch = block;
  }
  return outcome;
}

BlockIntegrity::BlockIntegrity(std::shared_ptr<const BlockPlan> plan, BlockExpectation expected)
    : plan_(std::move(plan)), expected_(std::move(expected)) {}

std::unique_ptr<LandingVerifier> BlockIntegrity::make_verifier(
    std::vector<std::byte*> chunk_bases) const {
  return std::make_unique<BlockVerifier>(plan_, std::move(chunk_bases));
}

Result<void> BlockIntegrity::join(std::span<LandingVerifier* const> verifiers,
                                  std::span<const std::string> /*rails*/,
                                  std::uint64_t& verified_bytes) const {
  std::vector<BlockVerifier*> all;
  all.reserve(verifiers.size());
  for (LandingVerifier* verifier : verifiers) all.push_back(static_cast<BlockVerifier*>(verifier));
  const IntegrityOutcome outcome = join_verifiers(all, expected_);
  verified_bytes = outcome.verified_bytes;
  if (outcome.mismatched_blocks == 0) return ok_result();
  return Error(
      Errc::kChecksumMismatch, Stage::kVerify,
      fmt::format(
          "{} of {} blocks do not match the holder's checksums, first at position {}; check "
          "the memory of both hosts and the rails' error counters",
          outcome.mismatched_blocks, plan_->blocks(), outcome.first_mismatch));
}

}  // namespace corail
