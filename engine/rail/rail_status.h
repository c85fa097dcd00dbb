#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "engine/rail/health.h"

namespace corail {

/// Where a rail is in its life: connecting → ready → draining → closed, and round again where it is
/// rebuilt.
enum class RailState : std::uint8_t {
  kConnecting,
  kReady,     // reads may start on it
  kDraining,  // the reads that are on it end; no new ones
  kClosed     // has no channels
};

struct RailStatus {
  RailState state = RailState::kConnecting;
  BreakerState breaker = BreakerState::kClosed;
  std::string why = "it has not been connected";  // it is not ready; for people
};

/// A rail's status, told by the rail's thread and read by all.
class RailStatusBoard {
 public:
  RailStatus read() const {
    const std::lock_guard lock(mutex_);
    return status_;
  }
  void write(RailStatus status) {
    const std::lock_guard lock(mutex_);
    status_ = std::move(status);
  }

 private:
  mutable std::mutex mutex_;
  RailStatus status_;
};

}  // namespace corail
