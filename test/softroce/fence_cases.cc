// After a fence nothing lands any more, on a device that is known to be late.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdio>

#include "engine/base/random.h"
#include "test/softroce/device_rig.h"

namespace corail::test {
namespace {

constexpr std::byte kNextOwner{0xEE};
constexpr int kRounds = 200;

BOOST_AUTO_TEST_SUITE(fences)

BOOST_AUTO_TEST_CASE(every_byte_lands) {
  DeviceRig rig("rxe0");
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  const auto slices = rig.slices(kHeldBytes, 256 * kKiB);
  rail->post(kRead, slices, sink);
  rig.run(sink.outcomes(slices.size()));
  BOOST_TEST(sink.count(Errc::kUnset) == slices.size(), sink.first_detail());
  BOOST_TEST(rig.landed(kHeldBytes));
  rig.close(std::move(rail));
}

BOOST_AUTO_TEST_CASE(reads_cross_the_borders_of_registrations) {
  DeviceRig rig("rxe0", 64 * kKiB);
  auto rail = rig.connected();
  BOOST_TEST(rail->capabilities().max_slice_bytes == 192 * kKiB);
  OutcomeSink sink(rig.context.get_executor());
  const auto slices = rig.slices(kMiB, 160 * kKiB);
  rail->post(kRead, slices, sink);
  rig.run(sink.outcomes(slices.size()));
  BOOST_TEST(sink.count(Errc::kUnset) == slices.size(), sink.first_detail());
  BOOST_TEST(rig.landed(kMiB));
  rig.close(std::move(rail));
}

BOOST_AUTO_TEST_CASE(nothing_lands_behind_a_fence) {
  DeviceRig rig("rxe0");
  auto rail = rig.connected();
  SeededRandom random(5);
  std::uint64_t late = 0;
  std::size_t flushed = 0;
  Duration longest{};
  for (int round = 0; round < kRounds; ++round) {
    OutcomeSink sink(rig.context.get_executor());
    const auto slices = rig.slices(8 * 128 * kKiB, 128 * kKiB);
    rail->post(kRead, slices, sink);
    rig.run_for(std::chrono::microseconds(random.below(20'000)));
    const TimePoint began = rig.clock.now();
    const auto fenced = rig.fence(*rail, sink, std::chrono::seconds(20));
    BOOST_TEST_REQUIRE(fenced.ok(), (fenced.ok() ? "" : fenced.error().to_string()));
    longest = std::max(longest, rig.clock.now() - began);
    BOOST_TEST_REQUIRE(sink.total() == slices.size());
    flushed += sink.count(Errc::kFlushed);
    rig.fill(kNextOwner);
    rig.run_for(std::chrono::milliseconds(5));
    late += rig.changed(kNextOwner);
  }
  std::printf("%d fences, %zu slices flushed, %llu late bytes, longest fence %lld ms\n", kRounds,
              flushed, static_cast<unsigned long long>(late),
              static_cast<long long>(
                  std::chrono::duration_cast<std::chrono::milliseconds>(longest).count()));
  BOOST_TEST(late == 0U);
  BOOST_TEST(flushed > 0U);
  rig.close(std::move(rail));
}

BOOST_AUTO_TEST_CASE(a_stalled_rail_is_fenced_at_once) {
  DeviceRig rig("rxe0");
  auto rail = rig.connected();
  OutcomeSink sink(rig.context.get_executor());
  // The peer's queue pairs are gone: what is posted now stalls until its retries are over.
  rig.run(rig.door->drop_session(kSession));
  const auto slices = rig.slices(kMiB, 128 * kKiB);
  rail->post(kRead, slices, sink);
  rig.run_for(std::chrono::milliseconds(200));
  BOOST_TEST(sink.total() == 0U);
  const TimePoint began = rig.clock.now();
  const auto fenced = rig.fence(*rail, sink, std::chrono::seconds(10));
  BOOST_TEST_REQUIRE(fenced.ok(), (fenced.ok() ? "" : fenced.error().to_string()));
  BOOST_TEST((rig.clock.now() - began < std::chrono::seconds(1)));
  BOOST_TEST(sink.count(Errc::kFlushed) == slices.size());
  rig.fill(kNextOwner);
  rig.run_for(std::chrono::seconds(1));
  BOOST_TEST(rig.changed(kNextOwner) == 0U);
  rig.close(std::move(rail));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
