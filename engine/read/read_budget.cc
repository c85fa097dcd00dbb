#include "engine/read/read_budget.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/post.hpp>
#include <utility>

#include "engine/base/check.h"
#include "engine/exec/suspension.h"

namespace corail {

/// Shared by the queue, the frame that waits and what may end the wait, so that none of them can be
/// left with a dead pointer.
struct ReadBudget::Waiter {
  Waiter(const asio::any_io_executor& executor, std::uint64_t wanted)
      : place(executor), bytes(wanted) {}

  Suspension place;
  const std::uint64_t bytes;
  Result<Share> result;  // a share that nobody fetches goes back by itself
};

ReadBudget::Share::Share(Share&& other) noexcept
    : budget_(std::move(other.budget_)), bytes_(std::exchange(other.bytes_, 0)) {}

ReadBudget::Share& ReadBudget::Share::operator=(Share&& other) noexcept {
  if (this == &other) return *this;
  reset();
  budget_ = std::move(other.budget_);
  bytes_ = std::exchange(other.bytes_, 0);
  return *this;
}

void ReadBudget::Share::shrink(std::uint64_t bytes) {
  if (!budget_ || bytes >= bytes_) return;
  budget_->give_back(std::exchange(bytes_, bytes) - bytes);
}

void ReadBudget::Share::reset() {
  const std::shared_ptr<ReadBudget> budget = std::move(budget_);
  if (!budget) return;
  --budget->reads_;
  budget->give_back(std::exchange(bytes_, 0));
}

ReadBudget::ReadBudget(asio::any_io_executor home, Clock& clock, BudgetFacts facts,
                       std::size_t max_waiters)
    : home_(std::move(home)), clock_(clock), facts_(std::move(facts)), max_waiters_(max_waiters) {}

bool ReadBudget::has_room(std::uint64_t bytes) const noexcept {
  if (reads_ == 0 || facts_.bytes == 0) return true;
  return in_use_ <= facts_.bytes && bytes <= facts_.bytes - in_use_;
}

ReadBudget::Share ReadBudget::take(std::uint64_t bytes) {
  in_use_ += bytes;
  ++reads_;
  return {shared_from_this(), bytes};
}

void ReadBudget::give_back(std::uint64_t bytes) {
  CORAIL_CHECK(bytes <= in_use_, "no more is given back to a budget than was taken");
  in_use_ -= bytes;
  serve_waiters();
}

void ReadBudget::serve_waiters() {
  while (!waiters_.empty() && has_room(waiters_.front()->bytes)) {
    const std::shared_ptr<Waiter> waiter = std::move(waiters_.front());
    waiters_.pop_front();
    waiter->result = take(waiter->bytes);
    waiter->place.resume();
  }
}

void ReadBudget::leave(const std::shared_ptr<Waiter>& waiter, Error why) {
  const auto found = std::find(waiters_.begin(), waiters_.end(), waiter);
  if (found == waiters_.end()) return;
  waiters_.erase(found);
  waiter->result = std::move(why);
  waiter->place.resume();
  // It may have been what the others had to wait behind.
  serve_waiters();
}

Error ReadBudget::refusal(Errc code, std::uint64_t bytes, const char* what_happened) const {
  return {code, Stage::kSubmit,
          fmt::format("{}: {} has {} of {} bytes in use by {} reads, {} more wait, and this one "
                      "needs up to {}; run fewer or smaller reads at a time, or raise {}",
                      what_happened, facts_.name, in_use_, facts_.bytes, reads_, waiters_.size(),
                      bytes, facts_.option)};
}

Task<Result<ReadBudget::Share>> ReadBudget::admit(std::uint64_t bytes, WhenFull when_full,
                                                  TimePoint deadline, CancelToken cancel) {
  if (waiters_.empty() && has_room(bytes)) co_return take(bytes);
  if (when_full == WhenFull::kRefuse) {
    co_return refusal(Errc::kQuotaExceeded, bytes, "no room");
  }
  if (waiters_.size() >= max_waiters_) {
    co_return refusal(Errc::kBusy, bytes, "too many reads wait for room");
  }
  const auto self = shared_from_this();
  const auto waiter = std::make_shared<Waiter>(home_, bytes);
  waiters_.push_back(waiter);
  const auto timer = clock_.make_timer(home_);
  timer->wait_until(deadline, [self, waiter](bool expired) {
    if (!expired) return;
    self->leave(waiter, self->refusal(Errc::kDeadline, waiter->bytes, "there was no room in time"));
  });
  // The token is pulled on any thread; the queue is home's.
  const auto subscription = cancel.subscribe([self, waiter] {
    asio::post(self->home_, [self, waiter] {
      self->leave(waiter, Error(Errc::kCancelled, Stage::kSubmit, "the caller gave up"));
    });
  });
  co_await waiter->place.suspend();
  co_return std::move(waiter->result);
}

}  // namespace corail
