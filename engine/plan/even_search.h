#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace corail {

/// Tables up to this size are searched by halves: they lie in a few cache lines.
inline constexpr std::size_t kHalvedTable = 8;

/// Index of the last of `count` (at least 1) ascending positions that is at or before `at`. They
/// are offsets in something of `total` bytes, the first is 0, and `at` is below `total`. Any
/// thread, if `position(index)` is.
///
/// A plan's tables are nearly always evenly spaced, and between two slices the data that goes
/// through the cache takes them out of it, so that a search by halves misses at each of its steps.
/// This one begins where `at` would lie with even spacing, and goes on from there in steps that
/// double: a look or two as a rule, O(log count) for any table.
template <typename Position>
std::size_t last_at_or_before(std::size_t count, std::uint64_t at, std::uint64_t total,
                              const Position& position) noexcept {
  std::size_t low = 0;
  std::size_t high = count;  // the first that is known to be behind `at`
  if (count > kHalvedTable) {
    const double part = static_cast<double>(at) / static_cast<double>(total);
    const auto even = static_cast<std::size_t>(part * static_cast<double>(count));
    const std::size_t guess = std::min(even, count - 1);
    std::size_t step = 1;
    if (position(guess) <= at) {
      low = guess;
      while (step < high - low && position(low + step) <= at) {
        low += step;
        step *= 2;
      }
      high = std::min(high, low + step);
    } else {
      high = guess;
      while (step < high && position(high - step) > at) {
        high -= step;
        step *= 2;
      }
      low = high - std::min(high, step);
    }
  }
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    (position(middle) <= at ? low : high) = middle;
  }
  return low;
}

/// The same of a table of things that begin at `linear`.
template <typename Table>
std::size_t last_at_or_before(const Table& table, std::uint64_t at, std::uint64_t total) noexcept {
  return last_at_or_before(table.size(), at, total,
                           [&table](std::size_t i) { return table[i].linear; });
}

}  // namespace corail
