#include "rpc/call_table.h"

#include <utility>

namespace corail {

void CallTable::add(PendingCall& call) {
  call.id = ++last_id_;
  ++frames_;
  by_id_.emplace(call.id, &call);
  by_deadline_.emplace(call.deadline, call.id);
}

void CallTable::remove(PendingCall& call) {
  if (!call.ended) forget(call);
  if (--frames_ == 0) idle_.notify();
}

void CallTable::end(PendingCall& call, Result<void> outcome) {
  if (call.ended) return;
  forget(call);
  call.ended = true;
  call.outcome = std::move(outcome);
  call.done.notify();
}

void CallTable::forget(const PendingCall& call) {
  by_id_.erase(call.id);
  by_deadline_.erase({call.deadline, call.id});
}

PendingCall* CallTable::find(std::uint64_t id) const {
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

void CallTable::end_all(const Error& error) {
  while (!by_id_.empty()) end(*by_id_.begin()->second, error);
}

std::vector<PendingCall*> CallTable::due(TimePoint now) const {
  std::vector<PendingCall*> calls;
  for (const auto& [deadline, id] : by_deadline_) {
    if (deadline > now) break;
    calls.push_back(by_id_.at(id));
  }
  return calls;
}

std::optional<TimePoint> CallTable::next_deadline() const {
  if (by_deadline_.empty()) return std::nullopt;
  return by_deadline_.begin()->first;
}

Task<void> CallTable::wait_idle() {
  while (frames_ > 0) {
    co_await idle_.wait();
  }
}

}  // namespace corail
