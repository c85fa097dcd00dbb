#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>

#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "engine/rail/push.h"
#include "engine/rail/rail_door.h"

namespace corail::test {

/// An order that has arrived at its owner.
struct CarriedOrder {
  PushOrder order;
  PushCourier::Answered answered;
};

/// Carries orders to a test, which does with them what it likes. One thread.
class ScriptedCourier final : public PushCourier {
 public:
  explicit ScriptedCourier(const asio::any_io_executor& executor) : arrived_(executor) {}

  void order(PushOrder order, Answered answered) override;

  /// The oldest that nobody has taken; waits for one.
  Task<CarriedOrder> next();
  std::size_t waiting() const noexcept { return orders_.size(); }

 private:
  std::deque<CarriedOrder> orders_;
  Event arrived_;
};

/// What the owner of the bytes does with an order that it takes: asks the gate for them, has the
/// door push them, and answers.
Task<void> serve_order(RailDoor& door, LeaseGate& gate, CarriedOrder carried,
                       std::function<bool()> cancelled);

/// Serves whatever the courier brings, `count` orders all at once.
Task<void> serve_orders(RailDoor& door, LeaseGate& gate, ScriptedCourier& courier, TaskScope& scope,
                        std::size_t count);

}  // namespace corail::test
