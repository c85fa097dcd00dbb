#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "test/support/read_rig.h"

// What a rail fails to bring, the surviving ones bring, and nothing else.

namespace corail::test {
namespace {

namespace data = boost::unit_test::data;

constexpr std::size_t kBadRail = 1;

FaultScript script(Fault fault) { return FaultScript().add(std::move(fault)); }

HeldShape large_shape() {
  HeldShape shape;
  shape.blocks = 128;  // 8 MiB
  return shape;
}

std::vector<RailPlan> four_rails(FaultScript bad, bool reports) {
  std::vector<RailPlan> plans(4);
  for (RailPlan& plan : plans) plan.options.reports_landing = reports;
  plans[kBadRail].faults = std::move(bad);
  return plans;
}

ReadRequest retrying(ReadRig& rig) {
  ReadRequest request = rig.request();
  request.retry_on_survivors = true;
  return request;
}

/// Counts how often each byte was asked of the holder.
class AskedBytes {
 public:
  explicit AskedBytes(HeldBlocks& held) {
    held.on_admit = [this](RegionId region, std::uint64_t offset, std::uint64_t length) {
      auto& times = times_[region.value()];
      times.resize(std::max<std::size_t>(times.size(), offset + length));
      for (std::uint64_t at = offset; at < offset + length; ++at) ++times[at];
    };
  }

  std::uint64_t different() const {
    return sum([](std::uint8_t times) { return times > 0 ? 1U : 0U; });
  }
  std::uint64_t again() const {
    return sum([](std::uint8_t times) { return times > 1 ? times - 1U : 0U; });
  }

 private:
  template <typename F>
  std::uint64_t sum(F weight) const {
    std::uint64_t all = 0;
    for (const auto& [region, bytes] : times_) {
      for (const std::uint8_t times : bytes) all += weight(times);
    }
    return all;
  }

  std::map<std::uint32_t, std::vector<std::uint8_t>> times_;  // by region, per byte
};

BOOST_AUTO_TEST_SUITE(retry)

BOOST_DATA_TEST_CASE(one_of_four_rails_is_cut, data::make({false, true}), reports) {
  const Fault cut = Fault(FaultKind::kCut, 6).at_packet(3);
  {
    ReadRig rig(large_shape(), four_rails(script(cut), reports), 1);
    const auto read = rig.make(rig.request());
    const auto result = rig.finish(*read);
    BOOST_TEST_REQUIRE(!result.ok());
    BOOST_TEST((result.error().code() == Errc::kConnectionLost), text_of(result));
  }
  ReadRig rig(large_shape(), four_rails(script(cut), reports), 1);
  AskedBytes asked(rig.held);
  const auto read = rig.make(retrying(rig));
  const auto result = rig.finish(*read);
  BOOST_TEST_REQUIRE(result.ok(), text_of(result));
  BOOST_TEST(rig.complaint(*read, result).value_or("") == "");
  const ReadReport& report = read->report();
  BOOST_TEST(report.read_bytes == rig.held.total_bytes());
  BOOST_TEST(report.verified_bytes == rig.held.total_bytes());
  BOOST_TEST(report.attempts == 2U);
  BOOST_TEST(report.retried_slices > 0U);
  BOOST_TEST(report.rails[kBadRail].down.find("nobody here gave them up") != std::string::npos);
  BOOST_TEST(report.rails[kBadRail].bytes > 0U);
  for (const std::size_t other : {0, 2, 3}) BOOST_TEST(report.rails[other].down == "");
  // Only what was in the window of the rail when it was cut, and not what it had brought.
  BOOST_TEST(asked.different() == rig.held.total_bytes());
  BOOST_TEST(asked.again() > 0U);
  BOOST_TEST(asked.again() == report.retried_bytes);
  BOOST_TEST(report.retried_bytes <= RailPlan().window.bytes);
  BOOST_TEST(rig.owner.confirms == 1U);
}

/// Every rail that fails is made good for, as long as one is left.
BOOST_AUTO_TEST_CASE(all_but_one_are_cut) {
  auto plans = four_rails(script(Fault(FaultKind::kCut, 2)), true);
  plans[0].faults = script(Fault(FaultKind::kCut, 3).at_packet(1));
  plans[3].faults = script(Fault(FaultKind::kCut, 5));
  ReadRig rig(large_shape(), std::move(plans), 1);
  const auto read = rig.make(retrying(rig));
  const auto result = rig.finish(*read);
  BOOST_TEST_REQUIRE(result.ok(), text_of(result));
  BOOST_TEST(rig.complaint(*read, result).value_or("") == "");
  BOOST_TEST(read->report().attempts == 4U);
}

BOOST_AUTO_TEST_CASE(the_last_rail_fails_the_read) {
  auto plans = four_rails(script(Fault(FaultKind::kCut, 2)), true);
  for (RailPlan& plan : plans) plan.faults = script(Fault(FaultKind::kCut, 3));
  ReadRig rig(large_shape(), std::move(plans), 1);
  const auto read = rig.make(retrying(rig));
  const auto result = rig.finish(*read);
  BOOST_TEST_REQUIRE(!result.ok());
  BOOST_TEST((result.error().code() == Errc::kConnectionLost), text_of(result));
  BOOST_TEST(rig.complaint(*read, result).value_or("") == "");
}

/// The rail is cut when the others have nothing left to do: they wait for what it may give back.
BOOST_AUTO_TEST_CASE(a_rail_that_fails_last_finds_the_others_waiting) {
  auto plans = four_rails(FaultScript(), true);
  plans[kBadRail].options.link.bytes_per_second = 3'000'000;
  plans[kBadRail].faults = script(Fault(FaultKind::kCut, 0).at_packet(15));
  ReadRig rig(large_shape(), std::move(plans), 1);
  const auto read = rig.make(retrying(rig));
  const auto result = rig.finish(*read);
  BOOST_TEST_REQUIRE(result.ok(), text_of(result));
  BOOST_TEST(rig.complaint(*read, result).value_or("") == "");
  BOOST_TEST(read->report().retried_slices > 0U);
  BOOST_TEST(read->report().rails[kBadRail].bytes == 0U);
}

BOOST_DATA_TEST_CASE(what_a_silent_rail_holds_is_fenced_and_read_elsewhere,
                     data::make({false, true}) * data::make({false, true}), shared_fence,
                     stuck_fence) {
  FaultScript faults = script(Fault(FaultKind::kStall, 2).at_packet(4));
  if (stuck_fence) faults.add(Fault(FaultKind::kStuckFence, 0));
  auto plans = four_rails(std::move(faults), true);
  for (RailPlan& plan : plans) plan.options.shared_fence = shared_fence;
  ReadRig rig(large_shape(), std::move(plans), 1);
  const auto read = rig.make(retrying(rig));
  const auto result = rig.finish(*read);
  BOOST_TEST_REQUIRE(result.ok(), text_of(result));
  BOOST_TEST(rig.complaint(*read, result).value_or("") == "");
  BOOST_TEST(read->report().attempts == 2U);
  BOOST_TEST(read->report().verified_bytes == rig.held.total_bytes());
}

BOOST_AUTO_TEST_CASE(what_the_holder_refuses_is_not_asked_for_again) {
  ReadRig rig(large_shape(), four_rails(script(Fault(FaultKind::kRefuse, 2)), true), 1);
  const auto read = rig.make(retrying(rig));
  const auto result = rig.finish(*read);
  BOOST_TEST_REQUIRE(!result.ok());
  BOOST_TEST((result.error().code() == Errc::kRefused), text_of(result));
  BOOST_TEST(read->report().retried_slices == 0U);
}

BOOST_AUTO_TEST_CASE(a_device_that_hangs_fails_the_read_all_the_same) {
  FaultScript faults = script(Fault(FaultKind::kStall, 2));
  faults.add(Fault(FaultKind::kStuckFence, 0));
  faults.add(Fault(FaultKind::kStuckClose, 0));
  ReadRig rig(large_shape(), four_rails(std::move(faults), true), 1);
  const auto read = rig.make(retrying(rig));
  const auto result = rig.finish(*read);
  BOOST_TEST_REQUIRE(!result.ok());
  BOOST_TEST((result.error().code() == Errc::kStuck), text_of(result));
  BOOST_TEST(rig.pool.quarantined_chunks() > 0U);
}

BOOST_AUTO_TEST_CASE(a_cancel_ends_a_read_that_waits_for_its_slowest_rail) {
  auto plans = four_rails(script(Fault(FaultKind::kStall, 0)), true);
  ReadRig rig(large_shape(), std::move(plans), 1);
  ReadRequest request = retrying(rig);
  CancelToken token = request.cancel;
  const auto read = rig.make(std::move(request));
  const auto outcome = rig.world.start(read->run());
  rig.world.run_for(std::chrono::seconds(1));
  BOOST_TEST(!outcome->has_value());
  token.cancel();
  rig.world.run_until_idle();
  BOOST_TEST_REQUIRE(outcome->has_value());
  BOOST_TEST((!(**outcome).ok() && (**outcome).error().code() == Errc::kCancelled));
  BOOST_TEST(rig.complaint(*read, **outcome).value_or("") == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
