#include "engine/exec/credits.h"

#include <fmt/core.h>

#include <utility>

#include "engine/base/check.h"
#include "engine/base/units.h"
#include "engine/exec/suspension.h"

namespace corail {

/// Shared by the queue and the frame that waits, so that neither can be left with a dead pointer.
struct Credits::Waiter {
  Waiter(const asio::any_io_executor& executor, std::uint64_t wanted)
      : place(executor), n(wanted) {}

  Suspension place;
  const std::uint64_t n;
  Result<void> result;
};

Credits::Credits(asio::any_io_executor executor, std::uint64_t available, std::size_t max_waiters)
    : executor_(std::move(executor)), available_(available), max_waiters_(max_waiters) {}

Credits::~Credits() {
  // The frame and the queue share the waiter, so dropping the queue would leave the frame asleep.
  while (!waiters_.empty()) {
    const std::shared_ptr<Waiter> waiter = std::move(waiters_.front());
    waiters_.pop_front();
    waiter->place.abandon();
  }
}

Task<Result<void>> Credits::acquire(std::uint64_t n) {
  if (closed_) co_return *closed_;
  if (try_acquire(n)) co_return ok_result();
  if (waiters_.size() >= max_waiters_) {
    co_return Error(Errc::kBusy,
                    fmt::format("{} callers wait for this budget already; start fewer operations "
                                "at once or raise the limit",
                                waiters_.size()));
  }
  const auto waiter = std::make_shared<Waiter>(executor_, n);
  waiters_.push_back(waiter);
  co_await waiter->place.suspend();
  co_return std::move(waiter->result);
}

bool Credits::try_acquire(std::uint64_t n) {
  if (closed_ || !waiters_.empty() || n > available_) return false;
  available_ -= n;
  return true;
}

void Credits::release(std::uint64_t n) {
  const auto sum = checked_add(available_, n);
  CORAIL_CHECK(sum, "more credits were released than 64 bits can count");
  available_ = *sum;
  while (!waiters_.empty() && waiters_.front()->n <= available_) {
    const std::shared_ptr<Waiter> waiter = std::move(waiters_.front());
    waiters_.pop_front();
    available_ -= waiter->n;
    waiter->result = ok_result();
    waiter->place.resume();
  }
}

void Credits::close(Error error) {
  if (closed_) return;
  closed_ = std::move(error);
  for (const auto& waiter : std::exchange(waiters_, {})) {
    waiter->result = *closed_;
    waiter->place.resume();
  }
}

}  // namespace corail
