#include <algorithm>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "test/support/read_rig.h"

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
namespace data = boost::unit_test::data;

/// The rail that misbehaves in these tests, of three.
constexpr std::size_t kBadRail = 1;

std::vector<RailPlan> rails_with(FaultScript faults, bool reports_landing) {
  std::vector<RailPlan> rails(3);
  for (RailPlan& rail : rails) rail.options.reports_landing = reports_landing;
  rails[kBadRail].faults = std::move(faults);
  return rails;
}

HeldShape large_shape() {
  HeldShape shape;
  shape.blocks = 64;  // 4 MiB: four windows of a rail
  return shape;
}

/// What became of one read of everything over a rail with these faults.
struct Outcome {
  Outcome(FaultScript faults, bool reports_landing, Duration time)
      : rig(large_shape(), rails_with(std::move(faults), reports_landing), 1) {
    ReadRequest request = rig.request();
    request.deadline = rig.world.now() + time;
    read = rig.make(std::move(request));
    result = rig.finish(*read);
  }

  Errc code() const { return result.error().code(); }

  ReadRig rig;
  std::unique_ptr<RigRead> read;
  Result<void> result;
};

void check_failed(Outcome& outcome, Errc expected) {
  BOOST_TEST_REQUIRE(!outcome.result.ok());
  BOOST_TEST((outcome.code() == expected), text_of(outcome.result));
  BOOST_TEST((outcome.read->phase() == ReadPhase::kCancelled));
  BOOST_TEST(outcome.rig.owner.confirms == 0U);
  BOOST_TEST(outcome.rig.owner.releases == 1U);
  BOOST_TEST(outcome.rig.complaint(*outcome.read, outcome.result).value_or("") == "");
}

void check_committed(Outcome& outcome) {
  BOOST_TEST_REQUIRE(outcome.result.ok(), text_of(outcome.result));
  BOOST_TEST(outcome.rig.owner.confirms == 1U);
  BOOST_TEST(outcome.read->report().read_bytes == outcome.rig.held.total_bytes());
  BOOST_TEST(outcome.rig.complaint(*outcome.read, outcome.result).value_or("") == "");
}

FaultScript script(Fault fault) { return FaultScript().add(std::move(fault)); }

BOOST_AUTO_TEST_SUITE(faults)

BOOST_DATA_TEST_CASE(a_cut_rail_fails_the_read, data::make({false, true}), reports) {
  Outcome outcome(script(Fault(FaultKind::kCut, 2).at_packet(5)), reports, std::chrono::minutes(1));
  check_failed(outcome, Errc::kConnectionLost);
  BOOST_TEST(outcome.result.error().rail() == "mock1");
  const ReadReport& report = outcome.read->report();
  BOOST_TEST(report.rails[kBadRail].errors > 0U);
  BOOST_TEST(report.rails[0].errors == 0U);
  BOOST_TEST(outcome.rig.rails.rail(kBadRail).counters().errors > 0U);
  // The other rails stopped; what they had in flight landed before anybody had to fence it.
  BOOST_TEST(outcome.rig.rails.transport(0).counters().fences == 0U);
  BOOST_TEST(outcome.rig.rails.transport(2).counters().fences == 0U);
}

BOOST_DATA_TEST_CASE(a_refused_slice_is_no_fault_of_the_rail, data::make({false, true}), reports) {
  Outcome outcome(script(Fault(FaultKind::kRefuse, 2)), reports, std::chrono::minutes(1));
  check_failed(outcome, Errc::kRefused);
  BOOST_TEST(outcome.read->report().rails[kBadRail].errors == 0U);
  BOOST_TEST(outcome.rig.rails.rail(kBadRail).counters().errors == 0U);
}

BOOST_AUTO_TEST_CASE(the_holder_refuses_once_the_lease_has_expired) {
  ReadRig rig(large_shape(), rails_with(FaultScript(), true), 1);
  const auto read = rig.make(rig.request());
  const auto outcome = rig.world.start(read->run());
  rig.world.run_for(milliseconds(2));
  rig.held.expire();
  rig.world.run_until_idle();
  BOOST_TEST_REQUIRE(outcome->has_value());
  const Result<void>& result = **outcome;
  BOOST_TEST_REQUIRE(!result.ok());
  BOOST_TEST((result.error().code() == Errc::kLeaseExpired));
  BOOST_TEST(rig.complaint(*read, result).value_or("") == "");
  for (const RailReport& rail : read->report().rails) BOOST_TEST(rail.errors == 0U);
}

BOOST_DATA_TEST_CASE(a_slice_that_never_ends_meets_the_deadline, data::make({false, true}),
                     reports) {
  Outcome outcome(script(Fault(FaultKind::kStall, 2).at_packet(3)), reports,
                  std::chrono::seconds(2));
  check_failed(outcome, Errc::kDeadline);
}

/// The wait before a fence that would harm others is half of what a fence may take; the other half
/// is left for the fence.
BOOST_AUTO_TEST_CASE(a_slice_that_never_ends_is_fenced_after_half_the_time) {
  const Duration time = std::chrono::seconds(2);
  for (const bool shared_fence : {false, true}) {
    auto rails = rails_with(script(Fault(FaultKind::kStall, 2)), true);
    for (RailPlan& rail : rails) rail.options.shared_fence = shared_fence;
    ReadRig rig(large_shape(), std::move(rails), 1);
    ReadRequest request = rig.request();
    const Duration fence_deadline = request.fence_deadline;
    const TimePoint deadline = rig.world.now() + time;
    request.deadline = deadline;
    const auto read = rig.make(std::move(request));
    const auto result = rig.finish(*read);
    BOOST_TEST_REQUIRE(!result.ok());
    BOOST_TEST((result.error().code() == Errc::kDeadline), text_of(result));
    BOOST_TEST(rig.rails.transport(kBadRail).counters().fences == 1U);
    const Duration waited = shared_fence ? fence_deadline / 2 : Duration(0);
    BOOST_TEST((read->ended() >= deadline + waited));
    BOOST_TEST((read->ended() <= deadline + waited + milliseconds(1)));
  }
}

BOOST_DATA_TEST_CASE(a_slow_link_is_only_slow, data::make({false, true}), reports) {
  Outcome outcome(script(Fault(FaultKind::kSlow, 3).of(5'000'000)), reports,
                  std::chrono::minutes(1));
  check_committed(outcome);
  const auto& rails = outcome.read->report().rails;
  BOOST_TEST(rails[kBadRail].bytes < rails[0].bytes);
}

BOOST_AUTO_TEST_CASE(a_short_delivery_is_counted) {
  Outcome outcome(script(Fault(FaultKind::kShort, 4).of(1)), true, std::chrono::minutes(1));
  check_failed(outcome, Errc::kByteCountMismatch);
  BOOST_TEST(outcome.result.error().rail() == "mock1");
}

BOOST_AUTO_TEST_CASE(a_short_delivery_that_nobody_counts_does_not_match) {
  Outcome outcome(script(Fault(FaultKind::kShort, 4).of(1)), false, std::chrono::minutes(1));
  check_failed(outcome, Errc::kChecksumMismatch);
}

/// Positions of the blocks whose bytes in these chunks are not the holder's.
std::vector<std::uint32_t> wrong_blocks(const HeldBlocks& held, const BlockPlan& plan,
                                        const std::vector<SlabChunk>& chunks) {
  std::vector<std::uint32_t> wrong;
  for (std::uint32_t block = 0; block < plan.blocks(); ++block) {
    bool same = true;
    for (std::uint32_t lane = 0; lane < plan.layout().lanes(); ++lane) {
      const BlockPlan::Place place = plan.locate(block, lane);
      const auto here = chunks[place.chunk].bytes().subspan(place.offset, place.bytes);
      same = same && std::ranges::equal(here, held.segment(block, lane));
    }
    if (!same) wrong.push_back(block);
  }
  return wrong;
}

/// Which block the bad rail's slices hold is the schedule's business, so the destination is looked
/// at; no RigRead, which would overwrite it.
BOOST_DATA_TEST_CASE(a_flipped_bit_names_its_block, data::make({false, true}), reports) {
  std::set<std::uint32_t> seen;
  for (std::uint64_t slice = 0; slice < 4; ++slice) {
    FaultScript faults = script(Fault(FaultKind::kFlip, slice).of(8 * 100'000 + 3));
    ReadRig rig(large_shape(), rails_with(std::move(faults), reports), 1);
    ReadRequest request = rig.request();
    const auto plan = std::dynamic_pointer_cast<const BlockPlan>(request.plan);
    const std::vector<SlabChunk> chunks = request.chunks;
    ReadSession session(rig.world.executor(), rig.world.clock(), rig.owner, std::move(request));
    ReadReport report;
    const auto result = rig.world.run(session.run(report));
    BOOST_TEST_REQUIRE(!result.ok());
    BOOST_TEST((result.error().code() == Errc::kChecksumMismatch), text_of(result));
    BOOST_TEST(rig.owner.confirms == 0U);
    const auto wrong = wrong_blocks(rig.held, *plan, chunks);
    BOOST_TEST_REQUIRE(wrong.size() == 1U);
    seen.insert(wrong.front());
    const std::string named =
        "1 of 64 blocks do not match the holder's checksums, first at position " +
        std::to_string(wrong.front()) + ";";
    const std::string& detail = result.error().detail();
    BOOST_TEST(detail.find(named) != std::string::npos, detail << ", flipped " << wrong.front());
  }
  // The faults were really in different blocks.
  BOOST_TEST(seen.size() == 4U);
}

BOOST_DATA_TEST_CASE(duplicates_and_overtaking_change_nothing, data::make({false, true}), reports) {
  FaultScript faults;
  for (std::uint64_t slice = 0; slice < 8; ++slice) {
    faults.add(Fault(FaultKind::kDuplicate, slice).at_packet(slice).by(microseconds(80)));
    faults.add(Fault(FaultKind::kDuplicate, slice).at_packet(15).by(milliseconds(100)));
    faults.add(Fault(FaultKind::kReorder, slice).at_packet(3 + slice).by(milliseconds(2)));
  }
  Outcome outcome(std::move(faults), reports, std::chrono::minutes(1));
  check_committed(outcome);
  BOOST_TEST(outcome.rig.rails.transport(kBadRail).counters().stray_writes == 0U);
}

BOOST_DATA_TEST_CASE(a_completion_before_the_bytes_is_not_believed, data::make({false, true}),
                     reports) {
  Outcome outcome(script(Fault(FaultKind::kEarlyCompletion, 1).by(milliseconds(20))), reports,
                  std::chrono::minutes(1));
  check_committed(outcome);
}

BOOST_AUTO_TEST_CASE(a_fence_without_an_answer_closes_the_rail) {
  FaultScript faults = script(Fault(FaultKind::kStall, 2));
  faults.add(Fault(FaultKind::kStuckFence, 0));
  Outcome outcome(std::move(faults), true, std::chrono::seconds(2));
  // Closing made it quiescent, so that the memory can be used again and the read ends for the
  // reason it was stopped.
  check_failed(outcome, Errc::kDeadline);
  BOOST_TEST(outcome.rig.pool.quarantined_chunks() == 0U);
  BOOST_TEST(!outcome.rig.rails.rail(kBadRail).usable());
}

BOOST_AUTO_TEST_CASE(a_device_that_hangs_costs_the_memory) {
  FaultScript faults = script(Fault(FaultKind::kLate, 2).by(std::chrono::seconds(30)));
  faults.add(Fault(FaultKind::kLate, 3).by(std::chrono::seconds(40)));
  faults.add(Fault(FaultKind::kStuckFence, 0));
  faults.add(Fault(FaultKind::kStuckClose, 0));
  Outcome outcome(std::move(faults), true, std::chrono::seconds(2));
  BOOST_TEST_REQUIRE(!outcome.result.ok());
  BOOST_TEST((outcome.code() == Errc::kStuck));
  BOOST_TEST(outcome.result.error().rail() == "mock1");
  const std::uint64_t chunks =
      outcome.rig.held.plan(outcome.rig.held.all(), outcome.rig.limits)->chunks().size();
  BOOST_TEST(outcome.rig.pool.quarantined_chunks() == chunks);
  // Late bytes do arrive, long after the read and its session have gone: into memory that nobody
  // gets again, and with nobody left to be told.
  outcome.read.reset();
  const std::uint64_t kept = outcome.rig.pool.outstanding_bytes();
  BOOST_TEST(kept >= outcome.rig.held.total_bytes());
  const std::uint64_t before = outcome.rig.rails.transport(kBadRail).counters().packets;
  outcome.rig.world.run_until_idle();
  BOOST_TEST(outcome.rig.rails.transport(kBadRail).counters().packets > before);
  BOOST_TEST(outcome.rig.pool.outstanding_bytes() == kept);
}

BOOST_AUTO_TEST_CASE(a_rail_that_fails_and_then_hangs_costs_the_memory_too) {
  // The first error must not hide that the device may still write.
  FaultScript faults = script(Fault(FaultKind::kStuckFence, 0));
  faults.add(Fault(FaultKind::kStuckClose, 0));
  faults.add(Fault(FaultKind::kShort, 1).of(5));
  faults.add(Fault(FaultKind::kStall, 2));
  Outcome outcome(std::move(faults), true, std::chrono::minutes(1));
  BOOST_TEST_REQUIRE(!outcome.result.ok());
  BOOST_TEST((outcome.code() == Errc::kStuck), text_of(outcome.result));
  BOOST_TEST(outcome.rig.pool.quarantined_chunks() > 0U);
}

BOOST_AUTO_TEST_CASE(the_holder_dies) {
  ReadRig rig(large_shape(), rails_with(FaultScript(), true), 1);
  const auto read = rig.make(rig.request());
  const auto outcome = rig.world.start(read->run());
  rig.world.run_for(milliseconds(8));
  rig.rails.holder().shut();
  BOOST_TEST(rig.held.pins() == 0U);
  rig.world.run_until_idle();
  BOOST_TEST_REQUIRE(outcome->has_value());
  BOOST_TEST_REQUIRE(!(**outcome).ok());
  BOOST_TEST(((**outcome).error().code() == Errc::kConnectionLost));
  BOOST_TEST(rig.complaint(*read, **outcome).value_or("") == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
