#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "test/support/pattern.h"

namespace corail::test {

/// The next owner of some memory: writes its own content the moment it gets it, and later counts
/// what somebody else has written (I1). The memory must outlive it.
class Canary {
 public:
  Canary(std::span<std::byte> memory, std::uint64_t seed) : memory_(memory), seed_(seed) {
    fill_pattern(memory_, seed_, 0);
  }

  std::uint64_t changed_bytes() const noexcept { return differences(memory_, seed_, 0); }

 private:
  std::span<std::byte> memory_;
  std::uint64_t seed_;
};

}  // namespace corail::test
