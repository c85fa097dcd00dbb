#include "engine/rail/mock/mock_link.h"

#include <boost/test/unit_test.hpp>
#include <cstdint>

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

constexpr TimePoint kStart{std::chrono::seconds(5)};

LinkModel model_of(std::uint64_t bytes_per_second) {
  LinkModel model;
  model.bytes_per_second = bytes_per_second;
  model.latency = Duration{0};
  return model;
}

BOOST_AUTO_TEST_SUITE(mock_link)

BOOST_AUTO_TEST_CASE(rounding_does_not_accumulate) {
  // 7 bytes at 3 GB/s last 2.33 ns: a schedule of steps would lose a seventh of the time.
  SeededRandom random(1);
  MockLink link(model_of(3'000'000'000), random);
  TimePoint last = kStart;
  constexpr std::uint64_t kPackets = 3'000'000;
  for (std::uint64_t i = 0; i < kPackets; ++i) last = link.transmit(kStart, 7);
  BOOST_TEST((last == kStart + nanoseconds(7 * kPackets / 3)));
}

BOOST_AUTO_TEST_CASE(long_busy_periods_do_not_overflow) {
  SeededRandom random(1);
  MockLink link(model_of(1'000'000'000), random);
  TimePoint last = kStart;
  for (int i = 0; i < 1000; ++i) last = link.transmit(kStart, 100'000'000'000);  // 100 TB
  BOOST_TEST((last == kStart + std::chrono::seconds(100'000)));
}

BOOST_AUTO_TEST_CASE(an_idle_link_starts_anew) {
  SeededRandom random(1);
  MockLink link(model_of(1'000'000), random);
  BOOST_TEST((link.transmit(kStart, 1000) == kStart + microseconds(1000)));
  BOOST_TEST((link.transmit(kStart + microseconds(400), 1000) == kStart + microseconds(2000)));
  BOOST_TEST((link.transmit(kStart + microseconds(5000), 1000) == kStart + microseconds(6000)));
}

BOOST_AUTO_TEST_CASE(a_new_rate_counts_from_the_next_packet) {
  SeededRandom random(1);
  MockLink link(model_of(1'000'000), random);
  BOOST_TEST((link.transmit(kStart, 1000) == kStart + microseconds(1000)));
  link.set_rate(500'000);
  BOOST_TEST((link.transmit(kStart, 1000) == kStart + microseconds(3000)));
}

BOOST_AUTO_TEST_CASE(jitter_keeps_order_and_rate) {
  SeededRandom random(4);
  LinkModel model = model_of(1'000'000);
  model.jitter = microseconds(300);
  MockLink link(model, random);
  TimePoint last = kStart;
  bool varied = false;
  for (int i = 1; i <= 1000; ++i) {
    const TimePoint plain = kStart + microseconds(100 * i);
    const TimePoint arrival = link.transmit(kStart, 100);
    BOOST_TEST_REQUIRE((arrival >= last));
    BOOST_TEST_REQUIRE((arrival >= plain));
    BOOST_TEST_REQUIRE((arrival <= plain + model.jitter));
    varied |= arrival != plain;
    last = arrival;
  }
  BOOST_TEST(varied);
}

BOOST_AUTO_TEST_CASE(models_are_read) {
  const auto model = parse_link_model("125MB/s+50us");
  BOOST_TEST_REQUIRE(model.ok());
  BOOST_TEST(model->bytes_per_second == 125'000'000U);
  BOOST_TEST((model->latency == microseconds(50)));
  BOOST_TEST((model->jitter == Duration{0}));
  BOOST_TEST(parse_link_model("1Gb/s")->bytes_per_second == 125'000'000U);
  BOOST_TEST(parse_link_model("2GiB/s")->bytes_per_second == 2U * 1024 * 1024 * 1024);
  BOOST_TEST(parse_link_model("1.5kB/s")->bytes_per_second == 1500U);
  BOOST_TEST((parse_link_model("1GB/s+2ms~3us")->jitter == microseconds(3)));
  BOOST_TEST((parse_link_model("1GB/s~3us")->latency == Duration{0}));
}

BOOST_AUTO_TEST_CASE(nonsense_is_refused) {
  for (const char* text : {"", "fast", "125", "125MB", "MB/s", "0MB/s", "-1MB/s", "nanMB/s",
                           "infMB/s", "1e30GB/s", "1MB/s+", "1MB/s+5", "1MB/s+-5us", "1MB/s+5us~",
                           "1MB/s+5us+5us", "1MB/s ", "1MB/s+5h", "1MB/s+5us~1us~1us", "1XB/s"}) {
    const auto model = parse_link_model(text);
    BOOST_TEST(!model.ok(), text);
    if (!model.ok()) BOOST_TEST((model.error().code() == Errc::kInvalidArgument));
  }
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read_back) {
  SeededRandom random(9);
  for (int i = 0; i < 1000; ++i) {
    LinkModel model = model_of(1 + random.below(1'000'000'000'000));
    if (i % 2 == 0) model.bytes_per_second = (1 + random.below(999)) * 1'000'000;
    model.latency = nanoseconds(random.below(1'000'000'000));
    model.jitter = nanoseconds(random.below(3));
    const std::string text = format_link_model(model);
    const auto again = parse_link_model(text);
    BOOST_TEST_REQUIRE(again.ok(), text);
    BOOST_TEST_REQUIRE(again->bytes_per_second == model.bytes_per_second);
    BOOST_TEST_REQUIRE((again->latency == model.latency));
    BOOST_TEST_REQUIRE((again->jitter == model.jitter));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
