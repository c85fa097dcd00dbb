#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/base/units.h"

namespace corail {

/// What a modelled link does to bytes. A value.
struct LinkModel {
  std::uint64_t bytes_per_second = 125'000'000;      // at least 1
  Duration latency = std::chrono::microseconds(50);  // from posting a request to its first byte
  Duration jitter{0};                                // up to this much more, per packet
  std::uint64_t packet_bytes = 64 * kKiB;            // placed at once; at least 1
};

/// Reads "125MB/s+50us" or "125MB/s+50us~5us": rate (B, kB, MB, GB, kb, Mb, Gb, KiB, MiB, GiB per
/// second; b is bits), latency and jitter (ns, us, ms, s). Latency and jitter may be left out.
/// Fails with kInvalidArgument, saying what was expected.
Result<LinkModel> parse_link_model(std::string_view text);

/// The inverse, in the largest units that are exact.
std::string format_link_model(const LinkModel& model);

/// When bytes arrive over a modelled link. Pure arithmetic: no clock and no timer.
///
/// The schedule is absolute: within a busy period the n-th byte arrives n / rate after its begin,
/// so that rounding does not accumulate over packets. Jitter delays a packet's arrival, not the
/// link. One thread at a time; the source of randomness must outlive it.
class MockLink {
 public:
  MockLink(const LinkModel& model, Random& random);

  /// `bytes` could be arriving from `ready` on, behind everything transmitted before: when the last
  /// of them has. Never earlier than an arrival that was returned before.
  TimePoint transmit(TimePoint ready, std::uint64_t bytes);

  /// From the next packet on. At least 1.
  void set_rate(std::uint64_t bytes_per_second);

  std::uint64_t rate() const noexcept { return rate_; }

 private:
  TimePoint free_at() const noexcept;

  Random& random_;
  std::uint64_t rate_;
  const Duration jitter_;
  TimePoint busy_since_{};
  std::uint64_t sent_ = 0;  // bytes since then
  TimePoint last_arrival_{};
};

}  // namespace corail
