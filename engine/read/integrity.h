#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/block_plan.h"

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

/// Hashes what lands through one rail, segment by segment, while the bytes are in the cache, into
/// its own sum and count per block.
///
/// Owned by the rail's share of the read, used on the rail's thread until the join, then by the
/// joining thread. The chunks that it reads must stay pinned until then (I6). Nothing to cancel: a
/// read that ends otherwise just drops it.
class BlockVerifier {
 public:
  /// `chunk_bases` by index in plan->chunks().
  BlockVerifier(std::shared_ptr<const BlockPlan> plan, std::vector<std::byte*> chunk_bases);

  /// Bytes [from, to) of the plan's linear space have landed: within a slice in ascending order,
  /// slices in any order. A segment is hashed when its last byte lands; one that is cut between two
  /// slices is left for the join unless they land one after the other.
  void landed(std::uint64_t from, std::uint64_t to);

  /// What landed of the slice [from, to) is void, and all of it will land again, through any rail.
  /// The slice must be quiescent. Hashes what it takes back once more: rare.
  void restart(std::uint64_t from, std::uint64_t to);

 private:
  friend IntegrityOutcome join_verifiers(std::span<BlockVerifier* const> verifiers,
                                         const BlockExpectation& expected);

  /// Landed bytes of the linear space that are not hashed yet.
  struct Fragment {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
  };

  std::uint64_t term(std::uint32_t lane, std::uint64_t linear, std::uint32_t bytes);
  void add(std::uint32_t block, std::uint32_t lane, std::uint64_t linear, std::uint32_t bytes);
  std::uint64_t bit_of(std::uint32_t block, std::uint32_t lane) const noexcept {
    return std::uint64_t{block} * lanes_ + (lane - plan_->lane_range().begin);
  }
  void trim_fragments(std::uint64_t from, std::uint64_t to);
  void hash_fragments(std::vector<Fragment> fragments);
  void move_to(std::vector<Fragment>& all);

  const std::shared_ptr<const BlockPlan> plan_;
  const std::vector<std::byte*> chunk_bases_;
  const std::uint32_t lanes_;          // of the plan, which may be some of the layout's
  std::size_t chunk_guess_ = 0;        // the chunk looked up last; most segments lie in the same
  std::vector<std::uint64_t> sums_;    // per block: of the terms of hashed segments
  std::vector<std::uint32_t> counts_;  // per block: hashed segments
  std::vector<std::uint64_t> hashed_;  // a bit per (block, lane): what restart() must take back
  /// The beginning of a segment whose next byte is the key; it goes on when that lands. At most one
  /// per slice.
  std::map<std::uint64_t, std::uint64_t> open_;
  /// Ends of segments whose beginning is in another slice. At most one per slice.
  std::vector<Fragment> ends_;
};

/// Adds up what the verifiers of one plan found, hashes the segments that were cut between slices,
/// and compares: a block matches if each of the plan's lanes was hashed exactly once and the sum is
/// right.
/// At least one verifier; not null. Modifies them: once only.
IntegrityOutcome join_verifiers(std::span<BlockVerifier* const> verifiers,
                                const BlockExpectation& expected);

}  // namespace corail
