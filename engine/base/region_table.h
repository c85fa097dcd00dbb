#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/result.h"

namespace corail {

/// A registered memory range of a holder, as published to requesters.
struct Region {
  RegionId id;
  std::uint64_t base = 0;    // the holder's virtual address
  std::uint64_t length = 0;  // bytes, more than 0
  std::int32_t numa_node = 0;
  std::vector<std::uint64_t> keys;  // one per port of the holder; 0 where the transport has none
};

/// The most regions that a table may have; a remote table with more is refused (I8).
inline constexpr std::size_t kMaxRegions = 4096;

/// An immutable set of disjoint regions, ordered by base, with its generation. A value; shared
/// freely between threads once made.
class RegionTable {
 public:
  RegionTable() = default;

  /// Checks what a remote table may get wrong (I5): too many regions, empty ones, bases and lengths
  /// that overflow, overlaps, repeated ids. Fails with kProtocol.
  static Result<RegionTable> make(TableGeneration generation, std::vector<Region> regions);

  TableGeneration generation() const noexcept { return generation_; }
  std::span<const Region> regions() const noexcept { return regions_; }

  /// Index of the one region that holds all of [address, address + length), or -1. O(log regions).
  /// length 0 is held by none.
  std::ptrdiff_t find(std::uint64_t address, std::uint64_t length) const noexcept;

 private:
  TableGeneration generation_;
  std::vector<Region> regions_;
};

}  // namespace corail
