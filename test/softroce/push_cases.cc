// What the owner writes: byte for byte, and nothing after it was given up.
#include <fmt/core.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstddef>
#include <cstring>

#include "engine/base/random.h"
#include "test/softroce/door_courier.h"

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr std::byte kCanary{0xCA};
constexpr std::size_t kCancels = 1000;
/// Every so manieth cancel is a fence at once, with an owner that nobody tells.
constexpr std::size_t kFenceEvery = 4;
constexpr std::uint64_t kCancelBytes = kMiB;
/// The thread that writes for the device may be stopped for as long as a busy host likes.
constexpr milliseconds kLateTime{10};

std::uint64_t changed(const Slab& memory) {
  const auto* begin = memory.data();
  return kCancelBytes -
         static_cast<std::uint64_t>(std::count(begin, begin + kCancelBytes, kCanary));
}

BOOST_AUTO_TEST_SUITE(pushes)

BOOST_AUTO_TEST_CASE(every_byte_is_pushed) {
  DeviceRig rig("rxe0");
  const auto courier = DoorCourier::attached_to(rig);
  auto rail = rig.connected();
  // Parts of an order, many orders, and orders that wait for RECVs.
  for (const std::uint64_t length : {3 * kMiB, 256 * kKiB, 40 * kKiB}) {
    rig.fill(kCanary);
    OutcomeSink sink(rig.context.get_executor());
    grant(rig, *rail, sink, *rig.memory);
    const auto slices = pushed_slices(rig, kHeldBytes, length);
    rail->post(kRead, slices, sink);
    rig.run(sink.outcomes(slices.size()));
    BOOST_TEST(sink.count(Errc::kUnset) == slices.size(), sink.first_detail());
    BOOST_TEST(rig.landed(kHeldBytes));
    revoke(rig, *rail, sink);
  }
  rig.close(std::move(rail));
}

BOOST_AUTO_TEST_CASE(every_byte_is_pushed_over_two_rails) {
  DeviceRig first("rxe0");
  DeviceRig second("rxe1");
  const auto courier = DoorCourier::attached_to(first);
  const auto other_courier = DoorCourier::attached_to(second);
  auto rail = first.connected();
  auto other = second.connected();
  OutcomeSink sink(first.context.get_executor());
  OutcomeSink other_sink(second.context.get_executor());
  grant(first, *rail, sink, *first.memory);
  grant(second, *other, other_sink, *first.memory);
  first.fill(kCanary);
  const auto slices = pushed_slices(first, kHeldBytes, 256 * kKiB);
  for (std::size_t i = 0; i < slices.size(); ++i) {
    const std::span<const Slice> one(&slices[i], 1);
    if (i % 2 == 0) {
      rail->post(kRead, one, sink);
    } else {
      other->post(kRead, one, other_sink);
    }
  }
  while (sink.total() + other_sink.total() < slices.size()) {
    first.run_for(milliseconds(1));
    second.run_for(milliseconds(1));
  }
  BOOST_TEST(sink.count(Errc::kUnset) == slices.size() / 2, sink.first_detail());
  BOOST_TEST(other_sink.count(Errc::kUnset) == slices.size() / 2, other_sink.first_detail());
  BOOST_TEST(first.landed(kHeldBytes));
  revoke(first, *rail, sink);
  revoke(second, *other, other_sink);
  first.close(std::move(rail));
  second.close(std::move(other));
}

BOOST_AUTO_TEST_CASE(nothing_lands_behind_a_thousand_cancels) {
  DeviceRig rig("rxe0");
  const auto courier = DoorCourier::attached_to(rig);
  auto rail = rig.connected();
  SeededRandom random(21);
  std::size_t cancels = 0;
  std::size_t ended_before = 0;
  std::size_t fences = 0;
  std::uint64_t late = 0;
  Duration longest_fence{};
  std::uint64_t most_delay = 20'000;
  for (std::uint64_t round = 1; cancels < kCancels; ++round) {
    BOOST_TEST_REQUIRE(ended_before < kCancels);
    const ReadContext context{ReadId(11), EpochNumber(round)};
    OutcomeSink sink(rig.context.get_executor());
    grant(rig, *rail, sink, *rig.memory);
    const std::size_t before = courier->ordered();
    const auto slices = pushed_slices(rig, kCancelBytes, 128 * kKiB);
    rail->post(context, slices, sink);
    // A queue pair that is built anew takes its time.
    while (courier->ordered() == before) rig.run_for(milliseconds(1));
    rig.run_for(microseconds(random.below(most_delay)));
    if (sink.total() == slices.size()) {
      ++ended_before;
      most_delay = std::max<std::uint64_t>(2'000, most_delay * 9 / 10);
      revoke(rig, *rail, sink);
      continue;
    }
    if (round % kFenceEvery == 0) {
      const TimePoint began = rig.clock.now();
      const auto fenced = rig.fence(*rail, sink, std::chrono::seconds(20));
      BOOST_TEST_REQUIRE(fenced.ok(), (fenced.ok() ? "" : fenced.error().to_string()));
      longest_fence = std::max(longest_fence, rig.clock.now() - began);
      ++fences;
    } else {
      courier->give_up(EpochNumber(round));
      rig.run(sink.outcomes(slices.size()));
    }
    BOOST_TEST_REQUIRE(sink.total() == slices.size());
    std::memset(rig.memory->data(), std::to_integer<int>(kCanary), kCancelBytes);
    rig.run_for(kLateTime);
    late += changed(*rig.memory);
    revoke(rig, *rail, sink);
    ++cancels;
  }
  fmt::print(
      "{} cancels of pushes, {} of them fences, {} ended before, {} late bytes, longest "
      "fence {} ms\n",
      cancels, fences, ended_before, late,
      std::chrono::duration_cast<milliseconds>(longest_fence).count());
  BOOST_TEST(late == 0U);
  BOOST_TEST(fences >= kCancels / (2 * kFenceEvery));
  BOOST_TEST(rail->usable());
  rig.close(std::move(rail));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
