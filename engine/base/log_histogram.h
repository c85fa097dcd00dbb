#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/base/clock.h"

namespace corail {

/// How often which durations came, in buckets whose width grows with the value: what quantile()
/// tells is at most 1/32 above the truth, from 1 ns to 292 years, and exact below 32 ns.
///
/// The buckets are the same for all, so that the histograms of many reads, rails or nodes add up to
/// that of them together. A value of 15 KiB; nothing is allocated. Not for several threads at once.
class LogHistogram {
 public:
  /// Every power of two is cut into so many buckets of one width.
  static constexpr std::size_t kParts = 32;

  /// A negative duration counts as none.
  void add(Duration value) noexcept;
  void merge(const LogHistogram& other) noexcept;

  std::uint64_t count() const noexcept { return count_; }
  /// Exact; 0 where there is nothing.
  Duration max() const noexcept { return Duration(static_cast<std::int64_t>(max_)); }
  Duration mean() const noexcept;
  /// The least duration that `part` of all, from 0 to 1, do not exceed: of 0 the shortest, of 1 the
  /// longest. 0 where there is nothing.
  Duration quantile(double part) const noexcept;

  friend bool operator==(const LogHistogram&, const LogHistogram&) = default;

 private:
  /// Values below kParts have a bucket each; each power of two from there to 2^62 has kParts.
  static constexpr std::size_t kBuckets = kParts * 59;

  static std::size_t bucket_of(std::uint64_t value) noexcept;
  static std::uint64_t last_of(std::size_t bucket) noexcept;

  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
  double sum_ = 0;  // would not fit into 64 bits
};

}  // namespace corail
