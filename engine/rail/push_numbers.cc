#include "engine/rail/push_numbers.h"

#include <algorithm>

namespace corail {

bool PushNumbers::take(std::uint64_t number) {
  if (number <= forgotten_) return false;
  // Nearly always it belongs at the end, or close to it.
  const auto place = std::lower_bound(taken_.begin(), taken_.end(), number);
  if (place != taken_.end() && *place == number) return false;
  taken_.insert(place, number);
  if (taken_.size() > kRememberedOrders) {
    forgotten_ = taken_.front();
    taken_.pop_front();
  }
  return true;
}

}  // namespace corail
