#include "engine/rail/connect_limit.h"

namespace corail {

std::uint64_t ConnectLimit::add_peer() {
  const std::lock_guard lock(mutex_);
  return ++peers_;
}

std::unique_ptr<ConnectLimit::Turn> ConnectLimit::ask(ConnectRequest who,
                                                      std::function<void()> begin_turn) {
  auto turn = std::make_unique<Turn>(*this, who, std::move(begin_turn));
  const std::lock_guard lock(mutex_);
  // Nobody who waits may begin now, so nobody is overtaken who could.
  if (may_begin(who)) {
    begin(*turn);
  } else {
    waiting_.push_back(turn.get());
  }
  return turn;
}

std::size_t ConnectLimit::connecting() const {
  const std::lock_guard lock(mutex_);
  return busy_;
}

bool ConnectLimit::may_begin(const ConnectRequest& who) const {
  if (busy_ >= limits_.most) return false;
  if (who.failed_before && retrying_ >= limits_.retrying) return false;
  const auto of_peer = busy_by_peer_.find(who.peer);
  return of_peer == busy_by_peer_.end() || of_peer->second < limits_.per_peer;
}

void ConnectLimit::begin(Turn& turn) {
  ++busy_;
  ++busy_by_peer_[turn.who_.peer];
  if (turn.who_.failed_before) ++retrying_;
  turn.begun_ = true;
  // With the lock held, so that a turn that is given up waits for a call that runs.
  turn.begin_();
}

void ConnectLimit::begin_those_that_may() {
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    if (!may_begin((*next)->who_)) {
      ++next;
      continue;
    }
    begin(**next);
    next = waiting_.erase(next);
  }
}

ConnectLimit::Turn::~Turn() {
  const std::lock_guard lock(limit_.mutex_);
  if (!begun_) {
    limit_.waiting_.remove(this);
    return;
  }
  --limit_.busy_;
  if (who_.failed_before) --limit_.retrying_;
  const auto of_peer = limit_.busy_by_peer_.find(who_.peer);
  if (--of_peer->second == 0) limit_.busy_by_peer_.erase(of_peer);
  limit_.begin_those_that_may();
}

}  // namespace corail
