#pragma once

#include <cstdint>

namespace corail {

/// Where a tile of a plan lies in the holder's memory; needed until the tile is laid out.
struct RemoteTile {
  std::uint64_t low = 0;    // lowest address
  std::int64_t stride = 0;  // from block to block; 0 where there is one row only
  std::uint32_t region = 0;
};

}  // namespace corail
