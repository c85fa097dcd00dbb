#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/block_plan.h"
#include "engine/read/piece_verifier.h"
#include "engine/read/read_integrity.h"

namespace corail {

/// What the blocks of a read must hash to, by position in the answer.
struct BlockExpectation {
  std::vector<std::uint64_t> identities;  // block_identity of what *we* asked for
  std::vector<std::uint64_t> checksums;   // block_checksum, as the holder computed it at save
  /// Where some lanes are read only, in place of both: what their terms add up to, as the holder
  /// computed them at save.
  std::vector<std::uint64_t> lane_sums;
};

/// The expectation for the first checksums.size() of `hashes`; extra checksums are left without an
/// identity, which the join reports as mismatches.
BlockExpectation expect_blocks(std::string_view name_space, std::span<const std::string> hashes,
                               std::uint64_t layout_id, std::vector<std::uint64_t> checksums);

struct IntegrityOutcome {
  std::uint64_t verified_bytes = 0;  // of the blocks that match
  std::uint32_t mismatched_blocks = 0;
  std::uint32_t first_mismatch = 0;  // the lowest position; meaningless where none mismatches
};

using BlockVerifier = PieceVerifier<BlockPlan>;

/// Adds up what the verifiers of one plan found, hashes the segments that were cut between slices,
/// and compares: a block matches if each of the plan's lanes was hashed exactly once and the sum is
/// right. At least one verifier; not null. Modifies them: once only.
IntegrityOutcome join_verifiers(std::span<BlockVerifier* const> verifiers,
                                const BlockExpectation& expected);

/// The same behind the read's interface.
class BlockIntegrity final : public ReadIntegrity {
 public:
  BlockIntegrity(std::shared_ptr<const BlockPlan> plan, BlockExpectation expected);

  std::unique_ptr<LandingVerifier> make_verifier(
      std::vector<std::byte*> chunk_bases) const override;
  Result<void> join(std::span<LandingVerifier* const> verifiers, std::span<const std::string> rails,
                    std::uint64_t& verified_bytes) const override;

 private:
  const std::shared_ptr<const BlockPlan> plan_;
  const BlockExpectation expected_;
};

}  // namespace corail
