#include <fmt/core.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "test/read/object_rig.h"

// Objects are read by the same session as blocks: over the rails to every owner at once.

namespace corail::test {
namespace {

using std::chrono::milliseconds;

std::string text_of(const Result<void>& result) {
  return result.ok() ? "success" : result.error().to_string();
}

bool says(const Result<void>& result, const std::string& what) {
  return text_of(result).find(what) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(object_read)

BOOST_AUTO_TEST_CASE(objects_are_byte_exact_over_all_rails_and_owners) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SeededRandom random(seed);
    const std::uint64_t size = seed < 2 ? seed : random.below(24 * kGranuleBytes);
    const std::uint64_t stripe_size = (1 + random.below(4)) * kGranuleBytes;
    ObjectRig rig(size, stripe_size, rails_to(1 + random.below(3), 1 + random.below(3)));
    const ObjectDemand demand = ObjectDemand::whole(size);
    const auto result = rig.run(rig.request(demand, random.below(2) == 0));
    BOOST_TEST_CONTEXT("seed " << seed << ", " << size << " bytes: " << text_of(result)) {
      BOOST_REQUIRE(result.ok());
      BOOST_REQUIRE_EQUAL(rig.complaint(demand), "");
      BOOST_REQUIRE_EQUAL(rig.report.verified_bytes, size);
      BOOST_REQUIRE_EQUAL(rig.report.read_bytes, size);
      BOOST_REQUIRE_EQUAL(rig.pins() + rig.leases(), 0U);
    }
  }
}

BOOST_AUTO_TEST_CASE(ranges_without_the_first_stripe_land_where_they_shall) {
  constexpr std::uint64_t kStripe = 2 * kGranuleBytes;
  ObjectRig rig(7 * kStripe + 5, kStripe, rails_to(2, 2));
  // From the middle of stripe 1 on, with gaps, into less memory than the object has.
  ObjectDemand demand;
  demand.ranges = {{3 * kGranuleBytes, kStripe}, {5 * kStripe, 2 * kStripe}, {7 * kStripe, 5}};
  demand.chunk_bytes = {3 * kStripe, 2 * kStripe + 100};
  demand.landings = {{{3 * kGranuleBytes, kGranuleBytes}, 1, 7},
                     {{4 * kGranuleBytes, kGranuleBytes}, 0, 2 * kStripe},
                     {{5 * kStripe, kStripe}, 0, 33},
                     {{6 * kStripe, kStripe}, 1, 7 + kGranuleBytes},
                     {{7 * kStripe, 5}, 0, 3 * kStripe - 5}};
  const auto result = rig.run(rig.request(demand, true));
  BOOST_TEST_REQUIRE(result.ok(), text_of(result));
  BOOST_TEST(rig.complaint(demand) == "");
  BOOST_TEST(rig.report.verified_bytes == 3 * kStripe + 5);
}

BOOST_AUTO_TEST_CASE(one_rail_is_a_pass_through) {
  ObjectRig rig(8 * kMiB, kMiB, rails_to(1, 1));
  BOOST_TEST_REQUIRE(rig.run(rig.request(ObjectDemand::whole(8 * kMiB), false)).ok());
  const double took = std::chrono::duration<double>(rig.took).count();
  // The latency once, and nothing else: the wire never runs dry.
  BOOST_TEST(took - 8.0 * kMiB / 125e6 <= 60e-6);
}

BOOST_AUTO_TEST_CASE(rails_share_stripes_where_whole_ones_do_not_divide) {
  // Four stripes over three rails: whole ones would take as long as two do.
  ObjectRig rig(16 * kMiB, 4 * kMiB, rails_to(1, 3));
  BOOST_TEST_REQUIRE(rig.run(rig.request(ObjectDemand::whole(16 * kMiB), false)).ok());
  const double ideal = 16.0 * kMiB / 375e6;
  BOOST_TEST(std::chrono::duration<double>(rig.took).count() < 1.05 * ideal);
}

BOOST_AUTO_TEST_CASE(rails_are_used_to_their_sum) {
  struct Sum {
    std::vector<std::uint64_t> rates;  // MB/s
    double efficiency;
  };
  const Sum sums[] = {{{125}, 0.985},
                      {{125, 125}, 0.985},
                      {{125, 125, 125}, 0.98},
                      {{125, 125, 125, 125}, 0.98},
                      {{125, 125, 125, 125, 125, 125, 125, 125}, 0.95},
                      {{50, 100, 200}, 0.96}};
  constexpr std::uint64_t kSize = 64 * kMiB;
  for (const Sum& sum : sums) {
    std::vector<RailPlan> rails;
    double capacity = 0;
    for (const std::uint64_t rate : sum.rates) {
      rails.push_back(rail_of(rate * 1'000'000));
      rails.back().window.bytes = 4 * kMiB;
      rails.back().window.max_slice_bytes = kGranuleBytes;
      capacity += static_cast<double>(rate) * 1e6;
    }
    ObjectRig rig(kSize, 4 * kMiB, {rails});
    ReadRequest request = rig.request(ObjectDemand::whole(kSize), false);
    request.max_slice_bytes = kGranuleBytes;
    BOOST_TEST_REQUIRE(rig.run(std::move(request)).ok());
    const double took = std::chrono::duration<double>(rig.took).count();
    const double efficiency = static_cast<double>(kSize) / took / capacity;
    BOOST_TEST_MESSAGE(rails.size() << " rails: " << efficiency);
    BOOST_TEST(efficiency >= sum.efficiency, rails.size() << " rails: " << efficiency);
    BOOST_TEST(rig.report.verified_bytes == kSize);
  }
}

BOOST_AUTO_TEST_CASE(a_wrong_bit_names_stripe_and_rail) {
  for (const bool granules : {false, true}) {
    auto plans = rails_to(1, 2);
    plans[0][1].faults.add(Fault(FaultKind::kFlip, 1).of(12345));
    ObjectRig rig(8 * kMiB, kMiB, std::move(plans));
    const auto result = rig.run(rig.request(ObjectDemand::whole(8 * kMiB), granules));
    BOOST_TEST_REQUIRE(!result.ok());
    BOOST_TEST((result.error().code() == Errc::kChecksumMismatch), text_of(result));
    std::uint64_t wrong = 0;
    while (rig.chunks[0].bytes()[wrong] == rig.held.content[wrong]) ++wrong;
    BOOST_TEST(says(result, fmt::format("stripe {} of node node0", wrong / kMiB)), text_of(result));
    BOOST_TEST(says(result, "mock1"), text_of(result));
    if (granules) BOOST_TEST(!says(result, "mock0"), text_of(result));
    BOOST_TEST(rig.owners[0]->confirms == 0U);
    BOOST_TEST(rig.leases() == 0U);
  }
}

BOOST_AUTO_TEST_CASE(every_owner_confirms_and_home_last) {
  ObjectRig rig(12 * kMiB, kMiB, rails_to(3, 1));
  bool others_first = false;
  // A lease ends with the owner's answer, not with the question.
  rig.owners[0]->on_confirm = [&] {
    others_first = rig.owners[1]->leases() + rig.owners[2]->leases() == 0;
  };
  rig.owners[2]->confirm_answer.delay = milliseconds(3);
  BOOST_TEST_REQUIRE(rig.run(rig.request(ObjectDemand::whole(12 * kMiB), false)).ok());
  BOOST_TEST(others_first);
  BOOST_TEST(rig.owners[0]->confirms == 1U);
  BOOST_TEST(rig.leases() == 0U);
}

BOOST_AUTO_TEST_CASE(one_owners_no_is_the_reads_no) {
  for (std::size_t naysayer = 0; naysayer < 3; ++naysayer) {
    ObjectRig rig(12 * kMiB, kMiB, rails_to(3, 1));
    rig.owners[naysayer]->confirm_answer.result =
        Error(Errc::kGenerationChanged, "it was replaced");
    const auto result = rig.run(rig.request(ObjectDemand::whole(12 * kMiB), false));
    BOOST_TEST_REQUIRE(!result.ok());
    BOOST_TEST((result.error().code() == Errc::kGenerationChanged), text_of(result));
    if (naysayer != 0) BOOST_TEST(rig.owners[0]->confirms == 0U);
    for (const auto& owner : rig.owners) BOOST_TEST(owner->releases == 1U);
    BOOST_TEST(rig.leases() == 0U);
  }
}

BOOST_AUTO_TEST_CASE(a_killed_owner_fails_the_read_whatever_the_others_bring) {
  for (const bool retry : {false, true}) {
    ObjectRig rig(12 * kMiB, kMiB, rails_to(2, 2));
    ReadRequest request = rig.request(ObjectDemand::whole(12 * kMiB), false);
    request.retry_on_survivors = retry;
    const auto chunks = request.chunks;
    for (const auto& owner : rig.owners) owner->lease(request.read);
    ReadSession session(rig.world.executor(), rig.world.clock(), *rig.group, std::move(request));
    const auto outcome = rig.world.start(session.run(rig.report));
    rig.world.run_for(milliseconds(8));
    rig.rails[1]->holder().shut();
    while (!outcome->has_value()) BOOST_REQUIRE(rig.world.step());
    BOOST_TEST(!(*outcome)->ok());
    BOOST_TEST(((*outcome)->error().error_class() == ErrorClass::kTransport), text_of(**outcome));
    // Quiescent: from here on nothing changes.
    for (const SlabChunk& chunk : chunks) std::ranges::fill(chunk.bytes(), kUntouched);
    rig.world.run_for(milliseconds(100));
    for (const SlabChunk& chunk : chunks) {
      BOOST_TEST(std::ranges::count(chunk.bytes(), kUntouched) ==
                 static_cast<std::ptrdiff_t>(chunk.bytes().size()));
    }
    BOOST_TEST(rig.pins() + rig.leases() == 0U);
  }
}

BOOST_AUTO_TEST_CASE(a_lost_rail_is_made_good_by_the_others_to_its_owner) {
  auto plans = rails_to(2, 2);
  plans[1][0].faults.add(Fault(FaultKind::kCut, 2));
  ObjectRig rig(16 * kMiB, kMiB, std::move(plans));
  const ObjectDemand demand = ObjectDemand::whole(16 * kMiB);
  ReadRequest request = rig.request(demand, false);
  request.retry_on_survivors = true;
  const auto result = rig.run(std::move(request));
  BOOST_TEST_REQUIRE(result.ok(), text_of(result));
  BOOST_TEST(rig.complaint(demand) == "");
  BOOST_TEST(rig.report.attempts == 2U);
  BOOST_TEST(rig.report.verified_bytes == 16 * kMiB);
}

BOOST_AUTO_TEST_CASE(an_owner_without_a_rail_is_told_before_anything_is_read) {
  ObjectRig rig(12 * kMiB, kMiB, rails_to(2, 1));
  ReadRequest request = rig.request(ObjectDemand::whole(12 * kMiB), false);
  request.rails.pop_back();
  request.rail_owners.pop_back();
  const auto result = rig.run(std::move(request));
  BOOST_TEST(says(result, "owner 1 of 2"), text_of(result));
  BOOST_TEST(rig.report.reads_posted == 0U);
  ReadRequest confused = rig.request(ObjectDemand::whole(12 * kMiB), false);
  confused.rail_owners.back() = 2;
  const auto refused = rig.run(std::move(confused));
  BOOST_TEST_REQUIRE(!refused.ok());
  BOOST_TEST((refused.error().code() == Errc::kInvalidArgument));
}

BOOST_AUTO_TEST_CASE(a_copy_of_ranges_is_dense_and_untouched_without_a_commit) {
  for (const bool commits : {true, false}) {
    ObjectRig rig(6 * kMiB, kMiB, rails_to(2, 1));
    if (!commits) rig.owners[1]->confirm_answer.result = Error(Errc::kLeaseExpired, "it lapsed");
    ObjectDemand demand;
    demand.ranges = {{kMiB + kGranuleBytes, kMiB}, {4 * kMiB, kMiB}};
    std::vector<std::byte> copy(2 * kMiB, kUntouched);
    ReadRequest request = rig.request(demand, true);
    request.copy_on_commit = copy;
    BOOST_TEST(rig.run(std::move(request)).ok() == commits);
    std::vector<std::byte> wanted(copy.size(), kUntouched);
    for (std::size_t i = 0; commits && i < 2; ++i) {
      const auto range = std::span(rig.held.content).subspan(demand.ranges[i].offset, kMiB);
      std::ranges::copy(range, wanted.begin() + static_cast<std::ptrdiff_t>(i * kMiB));
    }
    BOOST_TEST((copy == wanted));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
