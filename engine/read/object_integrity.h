#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/plan/object_plan.h"
#include "engine/read/piece_verifier.h"
#include "engine/read/read_integrity.h"

namespace corail {

/// What an object's stripes must hash to, beyond what its descriptor says.
struct ObjectExpectation {
  /// By stripe of the object: xxh3-64 of its granules, as its owner tells them, or nothing where it
  /// was not asked. Needed for stripes that are read in part, and what names the granule, and with
  /// it the rail, that brought wrong bytes. They have to add up to the descriptor's checksum.
  std::vector<std::vector<std::uint64_t>> granules;
};

/// The pieces of a stripe are its granules.
template <>
struct PiecesOf<ObjectPlan> {
  static std::uint32_t units(const ObjectPlan& plan) noexcept {
    return static_cast<std::uint32_t>(plan.stripes().size());
  }
  static std::uint64_t bits(const ObjectPlan& plan) noexcept { return plan.granule_bits(); }
  static std::uint64_t bit(const ObjectPlan& plan, std::uint32_t stripe,
                           std::uint32_t granule) noexcept {
    const ObjectPlan::Stripe& of = plan.stripes()[stripe];
    return of.first_bit + (granule - of.first_granule);
  }
};

using StripeVerifier = PieceVerifier<ObjectPlan>;

/// Each stripe that is read whole against the descriptor's checksum, whatever order its granules
/// came in; each that is read in part against the sum of its granules.
class ObjectIntegrity final : public ReadIntegrity {
 public:
  /// Fails with kInvalidArgument where a stripe is read in part and its granules are not known, and
  /// with kChecksumMismatch where they do not add up to the stripe's checksum.
  static Result<std::unique_ptr<const ReadIntegrity>> make(std::shared_ptr<const ObjectPlan> plan,
                                                           ObjectExpectation expected);

  std::unique_ptr<LandingVerifier> make_verifier(
      std::vector<std::byte*> chunk_bases) const override;
  /// The error names the first stripe that is wrong, and the rails that it came over: the one that
  /// brought the wrong granule, where the granules are known, else all that had a part in it.
  Result<void> join(std::span<LandingVerifier* const> verifiers, std::span<const std::string> rails,
                    std::uint64_t& verified_bytes) const override;

 private:
  ObjectIntegrity(std::shared_ptr<const ObjectPlan> plan, ObjectExpectation expected)
      : plan_(std::move(plan)), expected_(std::move(expected)) {}

  Result<void> check() const;
  /// The parts' sums, from the granules.
  void sum_parts();
  const std::vector<std::uint64_t>* granules_of(const ObjectPlan::Stripe& stripe) const noexcept;
  bool is_right(std::uint32_t stripe, const StripeVerifier& total) const noexcept;
  std::string blame(std::uint32_t stripe, std::span<StripeVerifier* const> verifiers,
                    std::span<const std::string> rails) const;

  const std::shared_ptr<const ObjectPlan> plan_;
  const ObjectExpectation expected_;
  std::vector<std::uint64_t> sums_;  // by stripe of the plan; 0 for those that are read whole
};

}  // namespace corail
