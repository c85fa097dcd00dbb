#include "engine/rail/tcp/serve_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/base/check.h"

namespace corail {

void ServeQueue::push(const Request& request) { add(request); }

void ServeQueue::push(const Request& request, PinnedBytes bytes,
                      std::shared_ptr<ServedOrder> order) {
  Op& op = add(request);
  op.bytes = std::move(bytes);
  op.admitted = true;
  op.order = std::move(order);
}

ServeQueue::Op& ServeQueue::add(const Request& request) {
  auto flow = std::find_if(flows_.begin(), flows_.end(), [&](const Flow& entry) {
    return entry.read == request.read && entry.epoch == request.epoch;
  });
  if (flow == flows_.end()) {
    flows_.emplace_back();
    flow = std::prev(flows_.end());
    flow->read = request.read;
    flow->epoch = request.epoch;
  }
  flow->ops.emplace_back();
  flow->ops.back().request = request;
  ++size_;
  return flow->ops.back();
}

void ServeQueue::cancel(const Request& request) noexcept {
  const bool every = request.epoch.value() == 0;
  for (Flow& flow : flows_) {
    if (flow.read != request.read || (!every && flow.epoch != request.epoch)) continue;
    for (Op& op : flow.ops) op.cancelled = true;
  }
}

ServeQueue::Op* ServeQueue::current() noexcept {
  return flows_.empty() ? nullptr : &flows_.front().ops.front();
}

bool ServeQueue::any_small() const noexcept {
  return std::any_of(flows_.begin(), flows_.end(), [](const Flow& flow) { return flow.small(); });
}

bool ServeQueue::any_large() const noexcept {
  return std::any_of(flows_.begin(), flows_.end(), [](const Flow& flow) { return !flow.small(); });
}

void ServeQueue::spend(std::uint64_t payload) {
  charge(payload);
  next_turn();
}

void ServeQueue::end(std::uint64_t payload) {
  charge(payload);
  Flow& flow = flows_.front();
  flow.ops.pop_front();
  --size_;
  if (flow.ops.empty()) flows_.pop_front();
  next_turn();
}

void ServeQueue::charge(std::uint64_t payload) {
  CORAIL_CHECK(!flows_.empty(), "nobody has the turn");
  // With its header, so that refusals and cancellations, which have no payload, end a turn as well.
  flows_.front().used += payload + kReplyBytes;
}

void ServeQueue::next_turn() {
  while (!flows_.empty() && flows_.front().used >= turn_bytes_) {
    flows_.front().used -= turn_bytes_;
    flows_.splice(flows_.end(), flows_, flows_.begin());
  }
}

void ServeQueue::clear() noexcept {
  flows_.clear();
  size_ = 0;
}

}  // namespace corail
