#include "engine/base/log_histogram.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace corail {

std::size_t LogHistogram::bucket_of(std::uint64_t value) noexcept {
  if (value < kParts) return static_cast<std::size_t>(value);
  constexpr int kBits = std::bit_width(kParts) - 1;
  // The leading kBits + 1 bits decide; the first of them is always set.
  const int shift = static_cast<int>(std::bit_width(value)) - 1 - kBits;
  return kParts * static_cast<std::size_t>(shift) + static_cast<std::size_t>(value >> shift);
}

/// The largest value that the bucket counts.
std::uint64_t LogHistogram::last_of(std::size_t bucket) noexcept {
  if (bucket < kParts) return bucket;
  const std::size_t shift = bucket / kParts - 1;
  const std::uint64_t leading = kParts + bucket % kParts;
  return ((leading + 1) << shift) - 1;
}

void LogHistogram::add(Duration value) noexcept {
  const auto nanoseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(value.count(), 0));
  ++counts_[bucket_of(nanoseconds)];
  ++count_;
  max_ = std::max(max_, nanoseconds);
  sum_ += static_cast<double>(nanoseconds);
}

void LogHistogram::merge(const LogHistogram& other) noexcept {
  for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

Duration LogHistogram::mean() const noexcept {
  if (count_ == 0) return Duration(0);
  return Duration(static_cast<std::int64_t>(sum_ / static_cast<double>(count_)));
}

Duration LogHistogram::quantile(double part) const noexcept {
  if (count_ == 0) return Duration(0);
  const double wanted = std::ceil(std::clamp(part, 0.0, 1.0) * static_cast<double>(count_));
  const auto rank = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 1, count_);
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    seen += counts_[i];
    if (seen >= rank) return Duration(static_cast<std::int64_t>(std::min(last_of(i), max_)));
  }
  return max();
}

}  // namespace corail
