#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "engine/base/clock.h"
#include "engine/rail/connect_limit.h"
#include "engine/rail/health.h"

namespace corail {

/// How much a rail may have posted and not landed. The bound is what makes the wait of a cancel
/// bounded (contract 3).
struct RailWindow {
  std::uint64_t bytes = 0;
  std::uint64_t max_slice_bytes = 0;

  /// By how much the window may be exceeded by shares that had nothing in flight, all together.
  std::uint64_t beyond() const noexcept { return bytes / 8; }
};

/// How long a rail's transport may take to close; contract 4 has no step behind it.
inline constexpr Duration kRailCloseTime = std::chrono::seconds(5);

/// How old the oldest posted slice may get. A rail that moves its window in less than half a second
/// (contract 3) is a long way from it.
inline constexpr Duration kWatchdogTime = std::chrono::seconds(10);

/// How long a rail that is being rebuilt may take to connect.
inline constexpr Duration kReconnectTime = std::chrono::seconds(5);

/// How a rail lives. A value.
struct RailOptions {
  RailOptions() {}

  HealthOptions health;
  Duration watchdog = kWatchdogTime;
  Duration reconnect_time = kReconnectTime;
  /// Shared by the rails of a node; none: the rail connects when it wants to.
  std::shared_ptr<ConnectLimit> connects;
  /// Shared by the rails of a port and used on its executor only; none: the port tells nothing.
  std::shared_ptr<const PortHealth> port;
};

}  // namespace corail
