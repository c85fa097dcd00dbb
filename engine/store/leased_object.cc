#include "engine/store/leased_object.h"

#include <algorithm>
#include <utility>

namespace corail::detail {
namespace {

using Place = std::pair<RegionId, std::uint64_t>;

Place place_of(const StripeMemory& stripe) { return {stripe.region, stripe.region_offset}; }

}  // namespace

LeasedObject::LeasedObject(LeaseId lease, bool must_be_current, std::vector<StripeMemory> stripes)
    : lease_(lease), must_be_current_(must_be_current), stripes_(std::move(stripes)) {
  std::ranges::sort(stripes_, {}, place_of);
}

std::optional<std::span<const std::byte>> LeasedObject::find(RegionId region, std::uint64_t offset,
                                                             std::uint64_t length) const {
  if (length == 0) return std::nullopt;
  const auto after = std::ranges::upper_bound(stripes_, Place(region, offset), {}, place_of);
  if (after == stripes_.begin()) return std::nullopt;
  const StripeMemory& stripe = *std::prev(after);
  if (stripe.region != region) return std::nullopt;
  // Subtractions only: no remote sum that could overflow (I5).
  const std::uint64_t within = offset - stripe.region_offset;
  const std::uint64_t bytes = stripe.bytes.bytes.size();
  if (within >= bytes || length > bytes - within) return std::nullopt;
  return stripe.bytes.bytes.subspan(within, length);
}

}  // namespace corail::detail
