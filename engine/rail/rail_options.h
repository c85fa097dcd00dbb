#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "engine/base/clock.h"
#include "engine/rail/connect_limit.h"
#include "engine/rail/health.h"
#include "engine/rail/port_budget.h"

namespace corail {

/// How much a rail may have posted and not landed, at most. The bound is what makes the wait of a
/// cancel bounded (contract 3); a slow rail may have less, see LandingWindow. A value.
struct RailWindow {
  std::uint64_t bytes = 0;
  std::uint64_t max_slice_bytes = 0;
};

/// The part of the window by which shares that had nothing in flight may exceed it, all together.
inline constexpr std::uint64_t kWindowParts = 8;

/// How long a rail's transport may take to close; contract 4 has no step behind it.
inline constexpr Duration kRailCloseTime = std::chrono::seconds(5);

/// How long nothing may be heard of the oldest posted slice, see PostedSlices.
inline constexpr Duration kWatchdogTime = std::chrono::seconds(10);

/// How long a rail may take to connect, once it is its turn.
inline constexpr Duration kReconnectTime = std::chrono::seconds(5);

/// How a rail lives. A value.
struct RailOptions {
  RailOptions() {}

  HealthOptions health;
  Duration watchdog = kWatchdogTime;
  Duration reconnect_time = kReconnectTime;
  /// How long fencing the rail may take; a quarter of it bounds the window (contract 3).
  Duration fence_deadline = std::chrono::seconds(2);
  /// Shared by the rails of a node; none: the rail connects when it wants to.
  std::shared_ptr<ConnectLimit> connects;
  /// The rail's peer there, see ConnectRequest.
  std::uint64_t connects_peer = 0;
  /// Shared by the rails of a port and used on its executor only; none: the port tells nothing.
  std::shared_ptr<PortHealth> port;
  /// Likewise; none: the windows are all that bounds what is posted.
  std::shared_ptr<PortBudget> budget;
};

}  // namespace corail
