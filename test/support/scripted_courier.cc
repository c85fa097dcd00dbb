#include "test/support/scripted_courier.h"

#include <asio/this_coro.hpp>
#include <stdexcept>
#include <utility>

#include "engine/exec/task_scope.h"

namespace corail::test {

void ScriptedCourier::order(PushOrder order, Answered answered) {
  if (hung_up_) return;
  CarriedOrder carried;
  carried.order = order;
  carried.answered = std::move(answered);
  orders_.push_back(std::move(carried));
  arrived_.notify();
}

Task<CarriedOrder> ScriptedCourier::next() {
  auto carried = co_await next_if_any();
  if (!carried) throw std::logic_error("the test has hung up, and an order was due");
  co_return std::move(*carried);
}

Task<std::optional<CarriedOrder>> ScriptedCourier::next_if_any() {
  while (orders_.empty()) {
    if (hung_up_) co_return std::nullopt;
    co_await arrived_.wait();
  }
  std::optional<CarriedOrder> carried(std::move(orders_.front()));
  orders_.pop_front();
  co_return carried;
}

void ScriptedCourier::hang_up() {
  hung_up_ = true;
  arrived_.notify();
}

Task<void> serve_order(PushOwner owner, CarriedOrder carried, std::function<bool()> cancelled) {
  const PushOrder order = carried.order;
  auto bytes = owner.gate->admit(owner.session, order.context, owner.region, order.source_offset,
                                 order.length);
  if (!bytes.ok()) {
    carried.answered(std::move(bytes).error());
    co_return;
  }
  PinnedBytes pinned = std::move(bytes).value();
  const auto pushed =
      co_await owner.door->push(owner.session, order, std::move(pinned), std::move(cancelled));
  if (!pushed.ok()) {
    carried.answered(pushed.error());
    co_return;
  }
  PushReceipt receipt;
  receipt.bytes = order.length;
  carried.answered(receipt);
}

Task<void> serve_orders(PushOwner owner, ScriptedCourier& courier,
                        std::function<bool()> cancelled) {
  const asio::any_io_executor executor = co_await asio::this_coro::executor;
  TaskScope serving(executor);
  while (true) {
    auto carried = co_await courier.next_if_any();
    if (!carried) break;
    serving.spawn(serve_order(owner, std::move(*carried), cancelled));
  }
  co_await serving.join();
}

}  // namespace corail::test
