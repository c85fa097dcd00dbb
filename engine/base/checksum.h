#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/base/ids.h"

namespace corail {

/// xxh3-64 without a seed (a seed costs 10 ns a call).
std::uint64_t xxh3_64(std::span<const std::byte> bytes) noexcept;
std::uint64_t xxh3_64(std::string_view bytes) noexcept;

/// A bijective mixer of 64 bits: the finalizer of splitmix64 (Steele, Lea, Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014). Part of the wire contract: both sides must use
/// the same.
constexpr std::uint64_t mix64(std::uint64_t x) noexcept {
  x ^= x >> 30;
  x *= 0xBF58476D1CE4E5B9ULL;
  x ^= x >> 27;
  x *= 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}

/// term(l) = mix(xxh3_64(segment l) + (l+1)·0x9E3779B97F4A7C15): one lane's share of a block's
/// checksum. The lane enters the term, so that two swapped segments of a block do not cancel out.
constexpr std::uint64_t lane_term(std::uint64_t segment_hash, std::uint32_t lane) noexcept {
  return mix64(segment_hash + (std::uint64_t{lane} + 1) * 0x9E3779B97F4A7C15ULL);
}

/// Hash of a block's identity: xxh3_64 of five numbers, each as 8 bytes in little-endian order:
/// xxh3_64(namespace), xxh3_64(hash), the layout's id, and the lengths of namespace and hash in
/// bytes, so that the border between them cannot move. Part of the wire contract.
std::uint64_t block_identity(std::string_view name_space, std::string_view hash,
                             std::uint64_t layout_id) noexcept;

/// block = mix(Σ terms ^ identity). Finds faults, not adversaries.
constexpr Checksum64 block_checksum(std::uint64_t sum_of_terms, std::uint64_t identity) noexcept {
  return Checksum64(mix64(sum_of_terms ^ identity));
}

}  // namespace corail
