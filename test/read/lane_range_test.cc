// Reads of some lanes, under a lease that others read under as well.
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "test/read/integrity_fixture.h"
#include "test/support/read_rig.h"

namespace corail::test {
namespace {

using std::chrono::milliseconds;
using testing::Fixture;
using testing::make_fixture;
using testing::Rails;
using testing::verify_plainly;

BOOST_AUTO_TEST_SUITE(lane_ranges)

BOOST_AUTO_TEST_CASE(some_lanes_are_verified_by_themselves) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Fixture fixture = make_fixture(seed, true);
    Rails rails(fixture, 1 + seed % 3, seed);
    rails.run(seed % 2 == 0 ? 0 : 7);
    const IntegrityOutcome outcome = rails.join(fixture.expected);
    BOOST_TEST_CONTEXT("seed " << seed) {
      BOOST_TEST(outcome.mismatched_blocks == 0U);
      BOOST_TEST(outcome.verified_bytes == fixture.plan->total_bytes());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_flipped_bit_in_one_of_the_lanes_is_found) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    Fixture fixture = make_fixture(seed, true);
    const LaneRange lanes = fixture.plan->lane_range();
    const auto block = static_cast<std::uint32_t>(seed % fixture.plan->blocks());
    const auto lane = static_cast<std::uint32_t>(lanes.begin + seed % (lanes.end - lanes.begin));
    fixture.segment(block, lane).back() ^= std::byte{16};
    const IntegrityOutcome outcome = verify_plainly(fixture);
    BOOST_TEST(outcome.mismatched_blocks == 1U);
    BOOST_TEST(outcome.first_mismatch == block);
  }
}

BOOST_AUTO_TEST_CASE(a_lane_that_did_not_land_or_a_sum_that_was_not_told_is_a_mismatch) {
  Fixture fixture = make_fixture(3, true);
  const auto blocks = fixture.plan->blocks();
  BlockVerifier nothing(fixture.plan, fixture.bases());
  BlockVerifier* only = &nothing;
  // All lanes of no block have the right sum of nothing.
  BlockExpectation zeros;
  zeros.lane_sums.assign(blocks, 0);
  BOOST_TEST(join_verifiers(std::span(&only, 1), zeros).mismatched_blocks == blocks);
  fixture.expected.lane_sums.pop_back();
  if (blocks > 1) BOOST_TEST(verify_plainly(fixture).mismatched_blocks == 1U);
}

BOOST_AUTO_TEST_CASE(a_commit_confirms_and_leaves_the_lease) {
  ReadRig rig(HeldShape{}, std::vector<RailPlan>(2), 4);
  ReadRequest request = rig.request();
  request.shares_lease = true;
  request.epoch = EpochNumber(5);
  const auto read = rig.make(std::move(request));
  const auto result = rig.finish(*read);
  BOOST_TEST(result.ok(), text_of(result));
  BOOST_TEST((read->phase() == ReadPhase::kCommitted));
  BOOST_TEST(rig.owner.confirms_to_keep == 1U);
  BOOST_TEST(rig.owner.confirms == 1U);
  BOOST_TEST(rig.owner.releases == 0U);
  // The lease is its owner's to give back.
  BOOST_TEST(rig.owner.leases() == 1U);
  BOOST_TEST(rig.world.run(rig.owner.release(ReadId(1), rig.world.now())).ok());
}

BOOST_AUTO_TEST_CASE(giving_up_tells_the_owner_nothing_that_would_end_the_others) {
  ReadRig rig(HeldShape{}, std::vector<RailPlan>(2), 4);
  ReadRequest request = rig.request();
  request.shares_lease = true;
  CancelToken token = request.cancel;
  const auto read = rig.make(std::move(request));
  const auto outcome = rig.world.start(read->run());
  while (rig.pool.outstanding_bytes() == 0) BOOST_REQUIRE(rig.world.step());
  rig.world.run_for(milliseconds(1));
  BOOST_REQUIRE(!outcome->has_value());
  token.cancel();
  while (!outcome->has_value()) BOOST_REQUIRE(rig.world.step());
  BOOST_REQUIRE(!(*outcome)->ok());
  BOOST_TEST(((*outcome)->error().code() == Errc::kCancelled));
  BOOST_TEST(rig.complaint(*read, **outcome).value_or("") == "");
  BOOST_TEST(rig.owner.confirms == 0U);
  BOOST_TEST(rig.owner.releases == 0U);
  // The lease is its owner's to give back.
  BOOST_TEST(rig.owner.leases() == 1U);
  BOOST_TEST(rig.world.run(rig.owner.release(ReadId(1), rig.world.now())).ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
