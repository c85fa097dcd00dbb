#pragma once

#include <cstdint>

#include "engine/object/object_descriptor.h"

namespace corail {

/// Where a node keeps a stripe: on which of its devices, and where among the stripes of the same
/// object there.
struct StripePlace {
  std::uint32_t device = 0;
  std::uint64_t offset = 0;  // bytes; a multiple of the stripe size, hence of kGranuleBytes

  friend bool operator==(const StripePlace&, const StripePlace&) = default;
};

/// Round robin: stripe i is on device i modulo `devices` (more than 0), behind the earlier ones
/// there. The places of an object do not overlap and leave no gap; the product cannot overflow for
/// stripes within check_descriptor()'s bounds.
constexpr StripePlace round_robin_place(std::uint32_t stripe, std::uint64_t stripe_size,
                                        std::uint32_t devices) noexcept {
  return {stripe % devices, stripe / devices * stripe_size};
}

/// Bytes of stripe `stripe`, which the object must have: the stripe size, and less for the last.
constexpr std::uint64_t stripe_length(std::uint64_t size, std::uint64_t stripe_size,
                                      std::uint32_t stripe) noexcept {
  const std::uint64_t left = size - stripe * stripe_size;
  return left < stripe_size ? left : stripe_size;
}

/// Granules of that many bytes; the last one may be short.
constexpr std::uint64_t granules_of(std::uint64_t bytes) noexcept {
  return bytes / kGranuleBytes + (bytes % kGranuleBytes != 0 ? 1 : 0);
}

}  // namespace corail
