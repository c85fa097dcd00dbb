#include "engine/rail/landing_window.h"

#include <algorithm>
#include <cmath>

#include "engine/base/check.h"

namespace corail {
namespace {

double seconds_of(Duration time) noexcept { return std::chrono::duration<double>(time).count(); }

}  // namespace

LandingWindow::LandingWindow(RailWindow limits, Duration fence_deadline) noexcept
    : limits_(limits),
      quarter_(seconds_of(fence_deadline) / 4),
      bytes_(static_cast<double>(kFirstWindowBytes) / quarter_ * seconds_of(kRatePriorTime)),
      seconds_(seconds_of(kRatePriorTime)) {
  CORAIL_CHECK(fence_deadline > Duration::zero(), "a fence may take some time");
}

std::uint64_t LandingWindow::bytes() const noexcept {
  const double allowed = rate() * quarter_;
  // Compared before the conversion, which more than 64 bits would not survive.
  if (allowed >= static_cast<double>(limits_.bytes)) return limits_.bytes;
  return std::max(static_cast<std::uint64_t>(allowed), std::min(kLeastWindowBytes, limits_.bytes));
}

std::uint64_t LandingWindow::slice_bytes() const noexcept {
  const std::uint64_t usable = bytes();
  const std::uint64_t whole = std::min(limits_.max_slice_bytes, limits_.bytes);
  if (usable == limits_.bytes) return whole;
  return std::min({whole, usable, std::max(usable / kSlicesPerWindow, kLeastWindowBytes)});
}

void LandingWindow::posted(TimePoint now) noexcept {
  // What passed without a slice says nothing about the rail.
  if (slices_++ == 0) counted_until_ = now;
}

void LandingWindow::landed(std::uint64_t bytes, TimePoint now) noexcept {
  pass_time(now);
  bytes_ += static_cast<double>(bytes);
}

void LandingWindow::ended(TimePoint now) noexcept {
  CORAIL_CHECK(slices_ > 0, "a slice ends once");
  pass_time(now);
  --slices_;
}

void LandingWindow::pass_time(TimePoint now) noexcept {
  if (slices_ == 0 || now <= counted_until_) return;
  const double passed = seconds_of(now - counted_until_);
  counted_until_ = now;
  const double kept = std::exp2(-passed / seconds_of(kRateHalfLife));
  bytes_ *= kept;
  seconds_ = seconds_ * kept + passed;
}

}  // namespace corail
