#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/base/clock.h"
#include "engine/verbs/path_settings.h"

namespace corail {

/// Completions that a port may have under way over all of its rails; the device's limit cuts it.
inline constexpr std::uint32_t kPortCompletions = 16'384;

/// The least time between two queue pairs of one channel, at either end: rebuilding cures no error
/// of a program, so one that repeats must not become a storm.
inline constexpr Duration kRebuildGap = std::chrono::milliseconds(100);

/// What the rails of one port are like. A value.
struct VerbsOptions {
  VerbsOptions() {}

  std::string device;
  std::uint8_t port = 1;
  std::optional<std::uint8_t> gid;  // index; none: the best one
  std::uint32_t channels = 2;       // queue pairs of a rail
  PathTuning tuning;
  /// The longest single registration; 0: what the device takes.
  std::uint64_t max_region_bytes = 0;
  /// Of the numbers that packets are counted from: unguessable, so that a stray packet of an
  /// earlier connection is not taken for one of this.
  std::uint64_t seed = 0;
};

}  // namespace corail
