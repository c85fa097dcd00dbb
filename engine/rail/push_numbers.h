#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

namespace corail {

/// Numbers of orders that a door remembers for each channel, at most (I8): several times what a
/// rail may have posted.
inline constexpr std::size_t kRememberedOrders = 4096;

/// The numbers of the orders that a channel has taken, so that none is written twice. Orders are
/// made in the order of their numbers, but their bytes come from disks in any order: a number that
/// is lower than one before it is taken, too, unless it is so old that nobody remembers.
///
/// Pure. Owned by the channel.
class PushNumbers {
 public:
  /// False where the number was taken before, or may have been. 0 is no number.
  bool take(std::uint64_t number);

 private:
  std::deque<std::uint64_t> taken_;  // ascending, all above the forgotten ones
  std::uint64_t forgotten_ = 0;      // the highest of those
};

}  // namespace corail
