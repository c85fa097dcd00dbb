#pragma once

#include <asio/any_io_executor.hpp>
#include <functional>
#include <optional>
#include <utility>

#include "engine/base/result.h"
#include "engine/exec/event.h"

namespace corail {

/// A push order that a channel of a door serves. Shared by whoever waits for its end and the
/// channel, which lets go of it then; on the door's executor.
struct ServedOrder {
  ServedOrder(const asio::any_io_executor& executor, std::function<bool()> asked)
      : cancelled(std::move(asked)), ended(executor) {}

  const std::function<bool()> cancelled;  // asked before each part, and never after the end
  /// What became of it; decided once its last part is in a batch, told once that batch is sent.
  std::optional<Result<void>> result;
  Event ended;
};

}  // namespace corail
