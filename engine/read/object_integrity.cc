#include "engine/read/object_integrity.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/checksum.h"
#include "engine/object/stripe_checksum.h"

namespace corail {
namespace {

std::uint64_t granules_in(std::uint64_t bytes) noexcept {
  return bytes / kGranuleBytes + (bytes % kGranuleBytes != 0 ? 1 : 0);
}

}  // namespace

Result<std::unique_ptr<const ReadIntegrity>> ObjectIntegrity::make(
    std::shared_ptr<const ObjectPlan> plan, ObjectExpectation expected) {
  std::unique_ptr<ObjectIntegrity> made(new ObjectIntegrity(std::move(plan), std::move(expected)));
  auto checked = made->check();
  if (!checked) return std::move(checked).error();
  made->sum_parts();
  return std::unique_ptr<const ReadIntegrity>(std::move(made));
}

const std::vector<std::uint64_t>* ObjectIntegrity::granules_of(
    const ObjectPlan::Stripe& stripe) const noexcept {
  if (stripe.index >= expected_.granules.size()) return nullptr;
  const auto& granules = expected_.granules[stripe.index];
  return granules.empty() ? nullptr : &granules;
}

Result<void> ObjectIntegrity::check() const {
  for (const ObjectPlan::Stripe& stripe : plan_->stripes()) {
    const ObjectChunk& chunk = plan_->object().chunks[stripe.index];
    const auto* granules = granules_of(stripe);
    if (granules == nullptr) {
      if (stripe.whole) continue;
      return Error(Errc::kInvalidArgument,
                   fmt::format("stripe {} of '{}' is read in part, and cannot be verified without "
                               "the checksums of its granules; ask its owner for them",
                               stripe.index, plan_->object().key));
    }
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < granules->size(); ++i) sum += granule_term((*granules)[i], i);
    if (granules->size() != granules_in(chunk.length) ||
        stripe_checksum(sum, chunk.length) != chunk.checksum) {
      return Error(Errc::kChecksumMismatch,
                   fmt::format("the checksums of the {} granules of stripe {} of '{}' that its "
                               "owner tells do not add up to the stripe's checksum; one of both "
                               "is of another generation, or was damaged at its owner",
                               granules->size(), stripe.index, plan_->object().key));
    }
  }
  return ok_result();
}

void ObjectIntegrity::sum_parts() {
  sums_.resize(plan_->stripes().size());
  plan_->for_each_segment(
      0, plan_->total_bytes(),
      [this](std::uint32_t stripe, std::uint32_t granule, std::uint64_t, std::uint32_t) {
        const ObjectPlan::Stripe& of = plan_->stripes()[stripe];
        if (!of.whole) sums_[stripe] += granule_term((*granules_of(of))[granule], granule);
      });
}

std::unique_ptr<LandingVerifier> ObjectIntegrity::make_verifier(
    std::vector<std::byte*> chunk_bases) const {
  return std::make_unique<StripeVerifier>(plan_, std::move(chunk_bases));
}

bool ObjectIntegrity::is_right(std::uint32_t stripe, const StripeVerifier& total) const noexcept {
  const ObjectPlan::Stripe& of = plan_->stripes()[stripe];
  if (total.count(stripe) != of.granules) return false;
  if (!of.whole) return total.sum(stripe) == sums_[stripe];
  return stripe_checksum(total.sum(stripe), of.bytes) == plan_->object().chunks[of.index].checksum;
}

std::string ObjectIntegrity::blame(std::uint32_t stripe, std::span<StripeVerifier* const> verifiers,
                                   std::span<const std::string> rails) const {
  const auto* granules = granules_of(plan_->stripes()[stripe]);
  std::vector<bool> suspect(verifiers.size());
  std::optional<std::uint32_t> culprit;
  // Rare: the whole plan is walked, and the stripe is hashed once more.
  plan_->for_each_segment(
      0, plan_->total_bytes(),
      [&](std::uint32_t of, std::uint32_t granule, std::uint64_t linear, std::uint32_t bytes) {
        if (of != stripe || culprit) return;
        const bool wrong = granules != nullptr && verifiers.front()->term(granule, linear, bytes) !=
                                                      granule_term((*granules)[granule], granule);
        if (wrong) {
          culprit = granule;
          suspect.assign(verifiers.size(), false);
        }
        // Nobody is named who had no part of what is wrong.
        for (std::size_t i = 0; i < verifiers.size(); ++i) {
          if (verifiers[i]->had_part(stripe, granule, linear, bytes)) suspect[i] = true;
        }
      });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < rails.size(); ++i) {
    if (suspect[i]) names.push_back(rails[i]);
  }
  return fmt::format("{}over rail{} {}", culprit ? fmt::format("granule {} of it ", *culprit) : "",
                     names.size() == 1 ? "" : "s", fmt::join(names, ", "));
}

Result<void> ObjectIntegrity::join(std::span<LandingVerifier* const> verifiers,
                                   std::span<const std::string> rails,
                                   std::uint64_t& verified_bytes) const {
  std::vector<StripeVerifier*> all;
  all.reserve(verifiers.size());
  for (LandingVerifier* verifier : verifiers) all.push_back(static_cast<StripeVerifier*>(verifier));
  StripeVerifier& total = *all.front();
  total.take_over(all);
  verified_bytes = 0;
  std::vector<std::uint32_t> wrong;
  for (std::uint32_t stripe = 0; stripe < plan_->stripes().size(); ++stripe) {
    if (is_right(stripe, total)) {
      verified_bytes += plan_->stripes()[stripe].bytes;
    } else {
      wrong.push_back(stripe);
    }
  }
  if (wrong.empty()) return ok_result();
  const ObjectDescriptor& object = plan_->object();
  const std::uint32_t index = plan_->stripes()[wrong.front()].index;
  return Error(
      Errc::kChecksumMismatch, Stage::kVerify,
      fmt::format("{} of {} stripes of '{}' do not match their checksums; stripe {} of node {} "
                  "came wrong, {}; check the memory of both hosts and the rail's error counters",
                  wrong.size(), plan_->stripes().size(), object.key, index,
                  object.nodes[object.chunks[index].node].addresses.front(),
                  blame(wrong.front(), all, rails)));
}

}  // namespace corail
