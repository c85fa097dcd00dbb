#pragma once

#include <asio/any_io_executor.hpp>
#include <functional>
#include <optional>
#include <utility>

#include "engine/base/result.h"
#include "engine/exec/event.h"

namespace corail {

/// An order that a mock door pushes. Shared by the frame that waits for its end and the channel.
/// On the door's executor.
struct MockPush {
  MockPush(asio::any_io_executor door, std::function<bool()> asked)
      : executor(std::move(door)), cancelled(std::move(asked)), ended(executor) {}

  const asio::any_io_executor executor;
  const std::function<bool()> cancelled;  // asked until there is a result
  std::optional<Result<void>> result;
  Event ended;
};

}  // namespace corail
