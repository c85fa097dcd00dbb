#include "engine/read/slice_dealer.h"

#include <algorithm>
#include <utility>

namespace corail {
namespace {

constexpr std::uint64_t kRoom = ~std::uint64_t{0};

}  // namespace

SliceDealer::SliceDealer(const ReadPlan& plan, SliceCursor& cursor,
                         std::shared_ptr<const SchedulePolicy> policy, std::uint64_t max_slice,
                         std::vector<std::int32_t> chunk_nodes)
    : plan_(plan),
      cursor_(cursor),
      policy_(std::move(policy)),
      max_slice_(max_slice),
      chunk_nodes_(std::move(chunk_nodes)) {}

std::size_t SliceDealer::add_rail(std::int32_t numa_node) {
  RailLoad rail;
  rail.window_bytes = kRoom;
  rail.numa_node = numa_node;
  rails_.push_back(rail);
  return rails_.size() - 1;
}

std::optional<SliceCursor::Cut> SliceDealer::take(std::size_t rail, std::uint64_t most) noexcept {
  if (most == 0) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (!next_) next_ = cursor_.take(max_slice_);
  if (!next_) return std::nullopt;
  SliceFacts slice;
  slice.number = number_;
  slice.bytes = std::min(next_->length, most);
  slice.numa_node = chunk_nodes_[next_->span->chunk];
  // Only the rail knows its window, which other reads fill too; that it asks says that it has room.
  RailLoad& self = rails_[rail];
  self.window_bytes = kRoom;
  if (!policy_->may_take(rail, slice, rails_)) return std::nullopt;
  SliceCursor::Cut cut = *next_;
  if (cut.length > most) {
    cut.length = plan_.cut_in(*cut.span, cut.linear, most, most) - cut.linear;
  }
  next_->linear += cut.length;
  next_->length -= cut.length;
  self.in_flight_bytes += cut.length;
  self.window_bytes = self.in_flight_bytes;
  if (next_->length == 0) {
    next_.reset();
    ++number_;
  }
  return cut;
}

std::uint64_t SliceDealer::left() const noexcept {
  const std::lock_guard lock(mutex_);
  return cursor_.remaining() + (next_ ? next_->length : 0);
}

void SliceDealer::ended(std::size_t rail, std::uint64_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  RailLoad& self = rails_[rail];
  self.in_flight_bytes -= std::min(bytes, self.in_flight_bytes);
  self.window_bytes = kRoom;
}

void SliceDealer::leave(std::size_t rail) noexcept {
  const std::lock_guard lock(mutex_);
  rails_[rail].ready = false;
}

}  // namespace corail
