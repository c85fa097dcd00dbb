#include "test/rail/scripted_courier.h"

#include <utility>

#include "test/rail/memory_gate.h"
#include "test/rail/run_task.h"
#include "test/rail/tcp_rig.h"

namespace corail::test {

void ScriptedCourier::order(PushOrder order, Answered answered) {
  CarriedOrder carried;
  carried.order = order;
  carried.answered = std::move(answered);
  orders_.push_back(std::move(carried));
  arrived_.notify();
}

Task<CarriedOrder> ScriptedCourier::next() {
  while (orders_.empty()) co_await arrived_.wait();
  CarriedOrder carried = std::move(orders_.front());
  orders_.pop_front();
  co_return carried;
}

Task<void> serve_order(RailDoor& door, LeaseGate& gate, CarriedOrder carried,
                       std::function<bool()> cancelled) {
  const PushOrder order = carried.order;
  auto bytes =
      gate.admit(kSession, order.context, MemoryGate::kRegion, order.source_offset, order.length);
  if (!bytes.ok()) {
    carried.answered(std::move(bytes).error());
    co_return;
  }
  PinnedBytes pinned = std::move(bytes).value();
  const auto pushed = co_await door.push(kSession, order, std::move(pinned), std::move(cancelled));
  if (!pushed.ok()) {
    carried.answered(pushed.error());
    co_return;
  }
  PushReceipt receipt;
  receipt.bytes = order.length;
  carried.answered(receipt);
}

Task<void> serve_orders(RailDoor& door, LeaseGate& gate, ScriptedCourier& courier, TaskScope& scope,
                        std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    CarriedOrder carried = co_await courier.next();
    scope.spawn(serve_order(door, gate, std::move(carried), [] { return false; }));
  }
}

}  // namespace corail::test
