#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/base/ids.h"

namespace corail {

/// Memory of a caller's own that a read cannot give back (contract 4): the device of a rail has
/// ended neither with the fence nor with the closing what it was to write there, and may still.
struct StuckMemory {
  ReadId read;
  std::string rail;
  /// What the rail's slices without an outcome land in, ascending. As long as the read has not
  /// returned, these bytes belong to the device.
  std::vector<std::span<std::byte>> ranges;
};

}  // namespace corail
