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

  std::uint64_t changed_bytes() const noexcept {
    std::uint64_t changed = 0;
    std::uint64_t from = 0;
    while (const auto at = first_difference(memory_.subspan(from), seed_, from)) {
      ++changed;
      from += *at + 1;
    }
    return changed;
  }

 private:
  std::span<std::byte> memory_;
  std::uint64_t seed_;
};

}  // namespace corail::test
