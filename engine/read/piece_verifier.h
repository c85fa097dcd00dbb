#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "engine/read/read_integrity.h"

namespace corail {

/// What the pieces of a plan are parts of: of a block, or of a stripe. The unit is what has a
/// checksum: a sum of terms, one for each of its pieces. See pieces_of_blocks.h.
template <typename Plan>
struct PiecesOf;

/// Sums what lands, piece by piece, into its own sum and count per unit.
///
/// Plan says which pieces there are: `for_each_segment(from, to, f)` calls f(unit, piece, linear,
/// bytes), and PiecesOf<Plan> has `units`, `bits` and `bit` to number pieces by.
template <typename Plan>
class PieceVerifier final : public LandingVerifier {
 public:
  /// `chunk_bases` by index in plan->chunks().
  PieceVerifier(std::shared_ptr<const Plan> plan, std::vector<std::byte*> chunk_bases);

  void landed(std::uint64_t from, std::uint64_t to) override;
  void restart(std::uint64_t from, std::uint64_t to) override;

  const Plan& plan() const noexcept { return *plan_; }

  /// Takes over what the others have found, and hashes the pieces that were cut between slices.
  /// From here on the sums are of the whole plan. Modifies all: once only.
  void take_over(std::span<PieceVerifier* const> others);

  /// The sum of the terms of a unit's hashed pieces, and how many those are.
  std::uint64_t sum(std::uint32_t unit) const noexcept { return sums_[unit]; }
  std::uint32_t count(std::uint32_t unit) const noexcept { return counts_[unit]; }
  /// The term of a piece, hashed now.
  std::uint64_t term(std::uint32_t piece, std::uint64_t linear, std::uint32_t bytes);
  /// Whether any of the piece, which begins at `linear`, came through this verifier's own rail.
  bool had_part(std::uint32_t unit, std::uint32_t piece, std::uint64_t linear,
                std::uint32_t bytes) const noexcept;

 private:
  /// Landed bytes of the linear space that are not hashed yet.
  struct Fragment {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
  };

  void add(std::uint32_t unit, std::uint32_t piece, std::uint64_t linear, std::uint32_t bytes);
  void trim_fragments(std::uint64_t from, std::uint64_t to);
  void hash_fragments(std::vector<Fragment> fragments);
  void move_to(std::vector<Fragment>& all);
  void hand_over(std::vector<Fragment>& all);

  const std::shared_ptr<const Plan> plan_;
  const std::vector<std::byte*> chunk_bases_;
  std::size_t span_guess_ = 0;         // the span looked up last; most pieces lie in the same
  std::vector<std::uint64_t> sums_;    // per unit: of the terms of hashed pieces
  std::vector<std::uint32_t> counts_;  // per unit: hashed pieces
  std::vector<std::uint64_t> hashed_;  // a bit per piece: what restart() must take back
  /// The beginning of a piece whose next byte is the key; it goes on when that lands. At most one
  /// per slice.
  std::map<std::uint64_t, std::uint64_t> open_;
  /// Ends of pieces whose beginning is in another slice. At most one per slice.
  std::vector<Fragment> ends_;
  std::vector<Fragment> handed_over_;  // at the join: what this rail had of pieces that were cut
};

}  // namespace corail
