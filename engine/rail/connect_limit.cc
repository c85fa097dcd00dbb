#include "engine/rail/connect_limit.h"

namespace corail {

std::unique_ptr<ConnectLimit::Turn> ConnectLimit::ask(std::function<void()> begin) {
  auto turn = std::make_unique<Turn>(*this, std::move(begin));
  const std::lock_guard lock(mutex_);
  if (free_ == 0) {
    waiting_.push_back(turn.get());
    return turn;
  }
  --free_;
  ++busy_;
  turn->begun_ = true;
  turn->begin_();
  return turn;
}

std::size_t ConnectLimit::connecting() const {
  const std::lock_guard lock(mutex_);
  return busy_;
}

ConnectLimit::Turn::~Turn() {
  const std::lock_guard lock(limit_.mutex_);
  if (!begun_) {
    limit_.waiting_.remove(this);
    return;
  }
  if (limit_.waiting_.empty()) {
    ++limit_.free_;
    --limit_.busy_;
    return;
  }
  // The place goes on to the next one.
  Turn* const next = limit_.waiting_.front();
  limit_.waiting_.pop_front();
  next->begun_ = true;
  // With the lock held, so that a turn that is given up waits for a call that runs.
  next->begin_();
}

}  // namespace corail
