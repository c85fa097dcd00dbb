#include "engine/rail/landing_window.h"

#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <deque>

#include "engine/base/random.h"

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;
namespace data = boost::unit_test::data;

constexpr Duration kFenceDeadline = seconds(2);
constexpr TimePoint kBegin{seconds(1)};

RailWindow default_window() {
  RailWindow window;
  window.bytes = 128 * kMiB;
  window.max_slice_bytes = 32 * kMiB;
  return window;
}

/// What contract 3 allows at so many bytes in a second.
std::uint64_t allowed_at(std::uint64_t rate) {
  return std::clamp(rate * 2 / 4, kLeastWindowBytes, default_window().bytes);
}

/// A rail that always has something to post, over a link of such a rate.
class Link {
 public:
  Link(std::uint64_t rate, Duration latency, Random& random)
      : rate_(rate), latency_(latency), random_(random) {}

  void set_rate(std::uint64_t rate) { rate_ = rate; }

  void run_for(Duration time) {
    const TimePoint until = now_ + time;
    while (now_ < until) {
      fill();
      land_some();
    }
  }

  LandingWindow window{default_window(), kFenceDeadline};
  std::uint64_t landed = 0;
  std::uint64_t in_flight = 0;
  /// More than one slice was needed to have anything in flight.
  bool beyond = false;

 private:
  void fill() {
    for (;;) {
      const std::uint64_t slice = window.slice_bytes();
      const std::uint64_t most = window.bytes();
      if (slice == 0 || slice > most) beyond = true;
      if (in_flight + slice > most && in_flight > 0) return;
      if (slices_.empty()) first_byte_ = now_ + latency_;
      window.posted(now_);
      slices_.push_back(slice);
      in_flight += slice;
    }
  }

  void land_some() {
    now_ = std::max(now_, first_byte_);
    std::uint64_t& left = slices_.front();
    const std::uint64_t bytes = std::min(left, 1 + random_.below(64 * kKiB));
    const std::uint64_t took = bytes * 1'000'000'000 / rate_;
    now_ += Duration(static_cast<Duration::rep>(took));
    window.landed(bytes, now_);
    landed += bytes;
    in_flight -= bytes;
    left -= bytes;
    if (left > 0) return;
    slices_.pop_front();
    window.ended(now_);
  }

  std::uint64_t rate_;
  const Duration latency_;
  Random& random_;
  TimePoint now_ = kBegin;
  TimePoint first_byte_{};
  std::deque<std::uint64_t> slices_;
};

BOOST_AUTO_TEST_SUITE(landing_window)

BOOST_AUTO_TEST_CASE(it_begins_with_a_window_that_a_slow_rail_can_bear) {
  const LandingWindow window(default_window(), kFenceDeadline);
  BOOST_TEST(window.bytes() >= kFirstWindowBytes - 1);
  BOOST_TEST(window.bytes() <= kFirstWindowBytes);
  BOOST_TEST(window.slice_bytes() >= kLeastWindowBytes);
  BOOST_TEST(window.slice_bytes() <= kFirstWindowBytes / kSlicesPerWindow);
}

BOOST_AUTO_TEST_CASE(a_window_that_was_configured_small_is_left_alone) {
  RailWindow small;
  small.bytes = 64 * kKiB;
  small.max_slice_bytes = 48 * kKiB;
  LandingWindow window(small, milliseconds(2));
  BOOST_TEST(window.bytes() == small.bytes);
  BOOST_TEST(window.slice_bytes() == small.max_slice_bytes);
  window.posted(kBegin);
  window.landed(1, kBegin + seconds(100));
  BOOST_TEST(window.bytes() == small.bytes);
  BOOST_TEST(window.slice_bytes() == small.max_slice_bytes);
}

/// From 100 kB/s to 12 GB/s: within a second of work the window is what the rate allows, and the
/// link is never idle for want of it.
BOOST_DATA_TEST_CASE(it_finds_the_rate, data::xrange(6), power) {
  std::uint64_t rate = 123'000;
  for (int i = 0; i < power; ++i) rate *= 10;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SeededRandom random(seed);
    Link link(rate, microseconds(random.below(20'000)), random);
    link.run_for(seconds(2));
    const auto found = static_cast<double>(link.window.bytes());
    const auto allowed = static_cast<double>(allowed_at(rate));
    BOOST_TEST_CONTEXT("rate " << rate << ", seed " << seed) {
      BOOST_TEST(found <= 1.05 * allowed);
      BOOST_TEST(found >= 0.75 * allowed);
      BOOST_TEST(!link.beyond);
      const std::uint64_t before = link.landed;
      link.run_for(seconds(1));
      BOOST_TEST(static_cast<double>(link.landed - before) >= 0.9 * static_cast<double>(rate));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_long_way_makes_no_small_window) {
  SeededRandom random(1);
  Link link(1'000'000'000, milliseconds(100), random);
  link.run_for(seconds(3));
  BOOST_TEST(link.window.bytes() == default_window().bytes);
}

BOOST_AUTO_TEST_CASE(a_rail_that_becomes_slow_posts_less_within_a_second) {
  SeededRandom random(1);
  Link link(1'000'000'000, microseconds(50), random);
  link.run_for(seconds(1));
  BOOST_TEST(link.window.bytes() == default_window().bytes);
  link.set_rate(20'000'000);
  // What is in flight lands first.
  link.run_for(seconds(8));
  BOOST_TEST(link.in_flight <= allowed_at(22'000'000));
  link.set_rate(1'000'000'000);
  link.run_for(seconds(1));
  BOOST_TEST(link.window.bytes() == default_window().bytes);
}

BOOST_AUTO_TEST_CASE(time_without_a_slice_says_nothing) {
  SeededRandom random(1);
  LandingWindow window(default_window(), kFenceDeadline);
  TimePoint now = kBegin;
  // 100 MB/s while it works, an hour of rest between two slices.
  for (int i = 0; i < 1000; ++i) {
    window.posted(now);
    now += milliseconds(10);
    window.landed(1'000'000, now);
    window.ended(now);
    now += std::chrono::hours(1);
  }
  BOOST_TEST(window.rate() > 99e6);
  BOOST_TEST(window.rate() < 101e6);
}

/// Whatever happens: between the least and the configured window, and a slice always fits.
BOOST_AUTO_TEST_CASE(it_stays_within_its_bounds) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SeededRandom random(seed);
    RailWindow limits;
    limits.bytes = 1 + random.below(std::uint64_t{1} << random.below(40));
    limits.max_slice_bytes = 1 + random.below(limits.bytes);
    LandingWindow window(limits, microseconds(1 + random.below(10'000'000)));
    TimePoint now = kBegin;
    std::uint64_t slices = 0;
    for (int i = 0; i < 300; ++i) {
      now += Duration(static_cast<Duration::rep>(random.below(1ULL << random.below(40))));
      const std::uint64_t what = random.below(3);
      if (what == 0 || slices == 0) {
        window.posted(now);
        ++slices;
      } else if (what == 1) {
        window.landed(random.below(1ULL << random.below(50)), now);
      } else {
        window.ended(now);
        --slices;
      }
      BOOST_REQUIRE(window.bytes() <= limits.bytes);
      BOOST_REQUIRE(window.bytes() >= std::min(kLeastWindowBytes, limits.bytes));
      BOOST_REQUIRE(window.slice_bytes() > 0U);
      BOOST_REQUIRE(window.slice_bytes() <= std::min(limits.max_slice_bytes, window.bytes()));
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
