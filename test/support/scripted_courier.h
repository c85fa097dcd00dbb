#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>

#include "engine/exec/event.h"
#include "engine/exec/task.h"
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

  /// The oldest that nobody has taken; waits for one. The test must not hang up meanwhile.
  Task<CarriedOrder> next();
  /// The same, but nothing once the test has hung up.
  Task<std::optional<CarriedOrder>> next_if_any();
  /// What arrives from here on is not answered.
  void hang_up();

  std::size_t waiting() const noexcept { return orders_.size(); }

 private:
  std::deque<CarriedOrder> orders_;
  Event arrived_;
  bool hung_up_ = false;
};

/// Who has the bytes of an object: a region of the gate's. All of it outlives whoever uses it.
struct PushOwner {
  RailDoor* door = nullptr;
  SessionId session;
  LeaseGate* gate = nullptr;
  RegionId region;
};

/// What an owner does with an order: asks the gate for the bytes, has the door push them, and
/// answers.
Task<void> serve_order(PushOwner owner, CarriedOrder carried, std::function<bool()> cancelled);

/// Does so with whatever comes, all at once, until the test hangs up.
Task<void> serve_orders(PushOwner owner, ScriptedCourier& courier, std::function<bool()> cancelled);

}  // namespace corail::test
