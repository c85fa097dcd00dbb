#pragma once

#include <cstdint>

namespace corail {

/// Which numbers of one channel's orders were taken. Pure.
///
/// A requester gives them out growing, but their bytes come from disks, which are ready in any
/// order; so a number may be overtaken by those that were under way with it, and is taken once all
/// the same.
class OrderNumbers {
 public:
  /// How far behind the highest a number may be; more than a requester may have under way.
  static constexpr std::uint64_t kWindow = 64;

  /// False: it was taken before, or is so old that nobody knows; or is 0, which none is.
  bool take(std::uint64_t number) noexcept {
    if (number > highest_) {
      const std::uint64_t steps = number - highest_;
      taken_ = steps < kWindow ? (taken_ << steps) | 1U : 1U;
      highest_ = number;
      return true;
    }
    const std::uint64_t behind = highest_ - number;
    if (number == 0 || behind >= kWindow) return false;
    const std::uint64_t bit = std::uint64_t{1} << behind;
    if ((taken_ & bit) != 0) return false;
    taken_ |= bit;
    return true;
  }

 private:
  std::uint64_t highest_ = 0;
  std::uint64_t taken_ = 1;  // bit i: the highest but i; 0 counts as taken
};

}  // namespace corail
