#pragma once

#include <cstdint>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/rail/rail_options.h"

namespace corail {

/// The window of a rail whose rate is not known yet. A rail that is worth its window measures so
/// within milliseconds, and one of 32 MB/s has brought this much within a quarter of the default
/// fence deadline; a fourth of it would cut the first read of a fast rail into crumbs.
inline constexpr std::uint64_t kFirstWindowBytes = 16 * kMiB;

/// No rate makes a window smaller than this: less would cost more in requests than it saves.
inline constexpr std::uint64_t kLeastWindowBytes = 256 * kKiB;

/// A window that the rate keeps small is filled with so many slices: one lands while the next is
/// asked for. More would only be shorter, and cost more requests.
inline constexpr std::uint64_t kSlicesPerWindow = 2;

/// Landings so long ago, in time that the rail was busy, weigh half.
inline constexpr Duration kRateHalfLife = std::chrono::milliseconds(200);

/// As if so much time had been measured before the first landing, at the first window's rate.
inline constexpr Duration kRatePriorTime = std::chrono::milliseconds(5);

/// How much a rail may have posted: what lands in a quarter of the fence deadline at the rate that
/// is measured while anything is posted (contract 3), between kLeastWindowBytes and the configured
/// window. Pure: time is an argument, and only moves forward. On the rail's executor.
class LandingWindow {
 public:
  /// `fence_deadline` is positive.
  LandingWindow(RailWindow limits, Duration fence_deadline) noexcept;

  /// Bytes that may be posted and not landed, now.
  std::uint64_t bytes() const noexcept;
  /// The longest slice for it, within the configured one.
  std::uint64_t slice_bytes() const noexcept;
  /// Bytes in a second, of the time that the rail was busy.
  double rate() const noexcept { return bytes_ / seconds_; }

  /// A slice was posted.
  void posted(TimePoint now) noexcept;
  /// Bytes have landed, of slices that are posted.
  void landed(std::uint64_t bytes, TimePoint now) noexcept;
  /// A slice has had its outcome; what it landed has been told before.
  void ended(TimePoint now) noexcept;

 private:
  void pass_time(TimePoint now) noexcept;

  const RailWindow limits_;
  const double quarter_;  // of the fence deadline, in seconds
  std::uint64_t slices_ = 0;
  TimePoint counted_until_{};  // while there are slices
  // What the past weighs: rate() is their quotient.
  double bytes_;
  double seconds_;
};

}  // namespace corail
