#include <algorithm>
#include <boost/test/unit_test.hpp>

#include "test/support/read_rig.h"

// How reads and rails share: fast and slow rails of one read, large and small reads on one rail.

namespace corail::test {
namespace {

using std::chrono::milliseconds;

// Everything is a quarter of what the other tests have: as many slices and packets, of fewer bytes.
constexpr std::uint64_t kSlice = 64 * kKiB;
constexpr std::uint64_t kWindow = 4 * kSlice;

HeldShape shape_of(std::uint32_t blocks) {
  HeldShape shape;
  shape.blocks = blocks;
  shape.lane_bytes = 4 * kKiB;
  return shape;
}

RailPlan rail_of(std::uint64_t bytes_per_second) {
  RailPlan rail;
  rail.options.link.bytes_per_second = bytes_per_second;
  rail.options.link.packet_bytes = 4 * kKiB;
  rail.window.bytes = kWindow;
  rail.window.max_slice_bytes = kSlice;
  return rail;
}

/// The rig's slices are larger than these rails'.
ReadRequest request_of(ReadRig& rig, BlockRange range) {
  rig.limits.max_read_bytes = kSlice;
  return rig.request(range);
}
ReadRequest request_of(ReadRig& rig) { return request_of(rig, rig.held.all()); }

double seconds(Duration time) { return std::chrono::duration<double>(time).count(); }

BOOST_AUTO_TEST_SUITE(sharing)

BOOST_AUTO_TEST_CASE(a_slow_rail_carries_less_and_nobody_waits_for_it) {
  constexpr std::uint64_t kRates[] = {200'000'000, 200'000'000, 100'000'000, 20'000'000};
  std::vector<RailPlan> rails;
  std::uint64_t sum = 0;
  for (const std::uint64_t rate : kRates) {
    rails.push_back(rail_of(rate));
    sum += rate;
  }
  ReadRig rig(shape_of(1024), std::move(rails), 1);  // 16 MiB
  const TimePoint begin = rig.world.now();
  const auto read = rig.make(request_of(rig));
  const auto result = rig.finish(*read);
  BOOST_TEST_REQUIRE(result.ok());
  const double took = seconds(read->ended() - begin);
  const double ideal = static_cast<double>(rig.held.total_bytes()) / static_cast<double>(sum);
  BOOST_TEST_MESSAGE("took " << took << " s, ideal " << ideal << " s");
  BOOST_TEST(took / ideal < 1.15);
  const auto& report = read->report().rails;
  for (std::size_t i = 0; i < report.size(); ++i) {
    const double share =
        static_cast<double>(report[i].bytes) / static_cast<double>(rig.held.total_bytes());
    const double fair = static_cast<double>(kRates[i]) / static_cast<double>(sum);
    BOOST_TEST_MESSAGE(report[i].name << " carried " << share << " of all, fair " << fair);
    BOOST_TEST(share > 0.8 * fair);
    BOOST_TEST(share < 1.25 * fair + 0.01);
  }
}

BOOST_AUTO_TEST_CASE(one_rail_is_a_pass_through) {
  ReadRig rig(shape_of(512), {rail_of(125'000'000)}, 1);
  const TimePoint begin = rig.world.now();
  const auto read = rig.make(request_of(rig));
  BOOST_TEST_REQUIRE(rig.finish(*read).ok());
  const double took = seconds(read->ended() - begin);
  const double ideal = static_cast<double>(rig.held.total_bytes()) / 125e6;
  // The latency once, and nothing else: the wire never runs dry.
  BOOST_TEST(took - ideal <= 60e-6);
}

BOOST_AUTO_TEST_CASE(a_small_read_has_its_turn_beside_a_large_one) {
  constexpr std::uint64_t kRate = 125'000'000;
  ReadRig rig(shape_of(1024), {rail_of(kRate), rail_of(kRate)}, 1);
  const auto large = rig.make(request_of(rig));
  const auto outcome = rig.world.start(large->run());
  rig.world.run_for(milliseconds(12));
  BlockRange one;
  one.first = 700;
  one.count = 1;
  const TimePoint begin = rig.world.now();
  const auto small = rig.make(one, request_of(rig, one));
  const auto result = rig.finish(*small);
  BOOST_TEST(result.ok());
  BOOST_TEST(!outcome->has_value());
  // It is the next to be posted: behind the rail's window and the slice that frees its place.
  const double bound = static_cast<double>(kWindow + kSlice + 16 * kKiB) / kRate + 100e-6;
  BOOST_TEST(seconds(small->ended() - begin) <= bound);
  rig.world.run_until_idle();
  BOOST_TEST_REQUIRE(outcome->has_value());
  BOOST_TEST(rig.complaint(*small, result).value_or("") == "");
  BOOST_TEST(rig.complaint(*large, **outcome).value_or("") == "");
}

BOOST_AUTO_TEST_CASE(a_read_that_has_landed_waits_for_no_rail_that_others_fill) {
  // What the first read posts on rail 0 never completes, and fills its window.
  RailPlan stalled = rail_of(125'000'000);
  stalled.window.bytes = kSlice;
  stalled.faults.add(Fault(FaultKind::kStall, 0));
  ReadRig rig(shape_of(64), {stalled, rail_of(125'000'000)}, 1);
  const auto first = rig.make(request_of(rig));
  const auto outcome = rig.world.start(first->run());
  rig.world.run_for(milliseconds(20));
  BlockRange one;
  one.first = 7;
  one.count = 1;
  const TimePoint begin = rig.world.now();
  const auto second = rig.make(one, request_of(rig, one));
  const auto result = rig.finish(*second);
  BOOST_TEST(text_of(result) == text_of(ok_result()));
  BOOST_TEST(seconds(second->ended() - begin) < 0.002);
  BOOST_TEST(!outcome->has_value());
  rig.world.run_until_idle();
  BOOST_TEST_REQUIRE(outcome->has_value());
  BOOST_TEST(rig.complaint(*first, **outcome).value_or("") == "");
}

BOOST_AUTO_TEST_CASE(equal_reads_get_equal_parts) {
  ReadRig rig(shape_of(256), {rail_of(125'000'000)}, 1);
  std::vector<std::unique_ptr<RigRead>> reads;
  std::vector<VirtualWorld::Outcome<Result<void>>> outcomes;
  const TimePoint begin = rig.world.now();
  for (int i = 0; i < 3; ++i) {
    reads.push_back(rig.make(request_of(rig)));
    outcomes.push_back(rig.world.start(reads.back()->run()));
  }
  rig.world.run_until_idle();
  std::vector<double> took;
  for (std::size_t i = 0; i < reads.size(); ++i) {
    BOOST_TEST((**outcomes[i]).ok());
    took.push_back(seconds(reads[i]->ended() - begin));
  }
  BOOST_TEST(*std::min_element(took.begin(), took.end()) >
             0.95 * *std::max_element(took.begin(), took.end()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
