#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace corail::bench {

/// Which segment of which block: everything that its content depends on, besides the offset.
struct CellId {
  std::uint64_t seed = 0;
  std::uint32_t set = 0;
  std::uint32_t block = 0;
  std::uint32_t lane = 0;
};

/// Writes the content of `cell`. Every byte depends on seed, set, block, lane and offset: one fill
/// byte per cell could not show a shift inside a segment or two swapped cells.
void fill_content(std::span<std::byte> segment, const CellId& cell) noexcept;

/// How many bytes of `segment` differ from what fill_content() would write there.
std::uint64_t count_mismatches(std::span<const std::byte> segment, const CellId& cell) noexcept;

}  // namespace corail::bench
