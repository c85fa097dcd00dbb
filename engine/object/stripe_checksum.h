#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/base/checksum.h"
#include "engine/base/ids.h"

namespace corail {

/// A granule's share of the checksum of its stripe. `granule` counts from 0 within the stripe and
/// enters the term, so that two swapped granules do not cancel out.
constexpr std::uint64_t granule_term(std::uint64_t granule_hash, std::uint32_t granule) noexcept {
  return lane_term(granule_hash, granule);
}

/// A stripe's checksum is a sum over its granules: they may be hashed in any order, each by another
/// thread, and the sum of all terms is all that has to be kept. The stripe's length enters, in
/// bytes. Part of the wire contract. Finds faults, not adversaries.
constexpr Checksum64 stripe_checksum(std::uint64_t sum_of_terms, std::uint64_t length) noexcept {
  return Checksum64(mix64(sum_of_terms ^ length));
}

/// The same of a whole stripe; its last granule may be short. A stripe of 0 bytes has no granule.
Checksum64 stripe_checksum(std::span<const std::byte> stripe) noexcept;

}  // namespace corail
