#pragma once

#include <cstdint>
#include <limits>

namespace corail {

/// Lanes [begin, end) of a layout; an end past the last lane means up to it.
struct LaneRange {
  std::uint32_t begin = 0;
  std::uint32_t end = std::numeric_limits<std::uint32_t>::max();

  bool contains(std::uint32_t lane) const noexcept { return lane >= begin && lane < end; }

  friend bool operator==(const LaneRange&, const LaneRange&) = default;
};

}  // namespace corail
