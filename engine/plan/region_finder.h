#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/region_table.h"

namespace corail {

/// Finds the region that holds a range as a whole. Neighbouring questions mostly have the same
/// answer, so that is tried first. Lives on a planner's stack; the table outlives it.
class RegionFinder {
 public:
  explicit RegionFinder(const RegionTable& regions) : regions_(regions) {}

  /// Index of the region that holds all of [address, address + length), or nothing (I4).
  std::optional<std::uint32_t> find(std::uint64_t address, std::uint64_t length) {
    const auto all = regions_.regions();
    if (guess_ < all.size()) {
      const Region& guess = all[guess_];
      const std::uint64_t offset = address - guess.base;
      if (address >= guess.base && offset < guess.length && length <= guess.length - offset) {
        return guess_;
      }
    }
    const std::ptrdiff_t found = regions_.find(address, length);
    if (found < 0) return std::nullopt;
    guess_ = static_cast<std::uint32_t>(found);
    return guess_;
  }

 private:
  const RegionTable& regions_;
  std::uint32_t guess_ = 0;
};

}  // namespace corail
