#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace corail::test {

/// The byte that belongs at a position: depends on all of it, so that shifted, swapped and stale
/// bytes all show.
std::byte pattern_at(std::uint64_t seed, std::uint64_t position) noexcept;

/// bytes[i] = pattern_at(seed, first + i).
void fill_pattern(std::span<std::byte> bytes, std::uint64_t seed, std::uint64_t first) noexcept;

/// The smallest i whose byte is not pattern_at(seed, first + i), or nothing.
std::optional<std::uint64_t> first_difference(std::span<const std::byte> bytes, std::uint64_t seed,
                                              std::uint64_t first) noexcept;

/// How many bytes are not what pattern_at(seed, first + i) says.
std::uint64_t differences(std::span<const std::byte> bytes, std::uint64_t seed,
                          std::uint64_t first) noexcept;

}  // namespace corail::test
