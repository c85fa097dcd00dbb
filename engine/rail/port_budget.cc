#include "engine/rail/port_budget.h"

#include <limits>
#include <utility>

#include "engine/base/check.h"

namespace corail {

bool PortBudget::has_room(std::uint64_t bytes) const noexcept {
  return bytes_ == 0 || bytes <= bytes_ - in_use();
}

void PortBudget::take(std::uint64_t bytes) noexcept {
  in_use_.store(in_use() + bytes, std::memory_order_relaxed);
}

void PortBudget::give_back(std::uint64_t bytes) {
  if (bytes == 0) return;
  CORAIL_CHECK(bytes <= in_use(), "no more is given back to a port than was taken");
  in_use_.store(in_use() - bytes, std::memory_order_relaxed);
  serve_waiting();
}

void PortBudget::serve_waiting() {
  while (!waiting_.empty() && has_room(waiting_.front()->wanted_)) {
    Place& place = *waiting_.front();
    waiting_.pop_front();
    place.waiting_ = false;
    place.reserved_ = place.wanted_;
    take(place.reserved_);
    place.wake_();
  }
  crowded_.store(!waiting_.empty(), std::memory_order_relaxed);
}

PortBudget::Place::Place(std::shared_ptr<PortBudget> budget, std::function<void()> wake)
    : budget_(std::move(budget)), wake_(std::move(wake)) {}

PortBudget::Place::~Place() {
  if (!budget_) return;
  if (waiting_) budget_->waiting_.remove(this);
  budget_->give_back(std::exchange(reserved_, 0) + std::exchange(posted_, 0));
  // Without anything given back it may still have been what the others had to wait behind.
  budget_->serve_waiting();
}

std::uint64_t PortBudget::Place::most() const noexcept {
  const bool bounded = budget_ && budget_->bytes_ != 0;
  return bounded ? budget_->bytes_ : std::numeric_limits<std::uint64_t>::max();
}

bool PortBudget::Place::reserve(std::uint64_t bytes) {
  if (!budget_ || reserved_ >= bytes) return true;
  if (waiting_) return false;
  settle();
  if (budget_->waiting_.empty() && budget_->has_room(bytes)) {
    reserved_ = bytes;
    budget_->take(bytes);
    return true;
  }
  wanted_ = bytes;
  waiting_ = true;
  budget_->waiting_.push_back(this);
  budget_->crowded_.store(true, std::memory_order_relaxed);
  return false;
}

void PortBudget::Place::posted(std::uint64_t bytes) {
  if (!budget_) return;
  CORAIL_CHECK(bytes <= reserved_, "no more is posted than was reserved");
  posted_ += bytes;
  budget_->give_back(std::exchange(reserved_, 0) - bytes);
}

void PortBudget::Place::ended(std::uint64_t bytes) {
  if (!budget_) return;
  CORAIL_CHECK(bytes <= posted_, "no more ends than was posted");
  posted_ -= bytes;
  budget_->give_back(bytes);
}

void PortBudget::Place::settle() {
  if (budget_) budget_->give_back(std::exchange(reserved_, 0));
}

}  // namespace corail
