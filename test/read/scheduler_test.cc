#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "test/read/push_rig.h"

// Reads over rails that a policy chooses.

namespace corail::test {
namespace {

using std::chrono::milliseconds;

constexpr std::uint64_t kSize = 24 * kMiB;
const ObjectDemand kWhole = ObjectDemand::whole(kSize);

std::shared_ptr<const SchedulePolicy> policy(std::string_view name) {
  return make_schedule(name).value();
}

std::vector<RailPlan> rails_at(const std::vector<std::uint64_t>& megabytes_per_second) {
  std::vector<RailPlan> rails;
  for (const std::uint64_t rate : megabytes_per_second) {
    rails.push_back(rail_of(rate * 1'000'000));
  }
  return rails;
}

BOOST_AUTO_TEST_SUITE(schedulers)

BOOST_AUTO_TEST_CASE(every_policy_reads_byte_for_byte) {
  for (const std::string_view name : {"least_loaded", "round_robin", "locality"}) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      SeededRandom random(seed);
      const std::uint64_t size = random.below(24 * kGranuleBytes);
      const ObjectDemand demand = ObjectDemand::whole(size);
      const std::size_t nodes = 1 + random.below(3);
      const std::size_t each = 1 + random.below(4);
      ObjectRig rig(size, (1 + random.below(4)) * kGranuleBytes, rails_to(nodes, each));
      ReadRequest request = rig.request(demand, random.below(2) == 0);
      request.scheduler = policy(name);
      for (std::size_t i = 0; i < request.rails.size(); ++i) {
        request.rail_nodes.push_back(static_cast<std::int32_t>(random.below(2)));
      }
      const auto result = rig.run(std::move(request));
      BOOST_TEST_CONTEXT(name << ", seed " << seed) {
        BOOST_REQUIRE(result.ok());
        BOOST_REQUIRE_EQUAL(rig.complaint(demand), "");
        BOOST_REQUIRE_EQUAL(rig.report.verified_bytes, size);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_plan_of_round_robin_is_fixed_however_fast_the_rails_are) {
  std::vector<std::set<std::uint64_t>> plans[2];
  for (const bool slow : {false, true}) {
    PushRig it(1, 3);
    for (const auto& script : it.scripts) script->latency = milliseconds(1);
    if (slow) it.scripts[1]->latency = milliseconds(50);
    ReadRequest request = it.request();
    request.scheduler = policy("round_robin");
    request.max_slice_bytes = 256 * kKiB;
    BOOST_TEST_REQUIRE(it.rig.run(std::move(request)).ok());
    BOOST_TEST(it.rig.complaint(ObjectDemand::whole(kPushedBytes)) == "");
    for (const auto& script : it.scripts) {
      auto& offsets = plans[slow ? 1 : 0].emplace_back();
      for (const Slice& slice : script->posted) offsets.insert(slice.remote_offset);
    }
  }
  BOOST_TEST((plans[0] == plans[1]));
  // Slice k is rail k's, modulo their number.
  std::map<std::uint64_t, std::size_t> rail_of_slice;
  for (std::size_t rail = 0; rail < 3; ++rail) {
    for (const std::uint64_t offset : plans[0][rail]) rail_of_slice[offset] = rail;
  }
  std::size_t number = 0;
  for (const auto& [offset, rail] : rail_of_slice) BOOST_TEST(rail == number++ % 3);
  BOOST_TEST(number > 20U);
}

BOOST_AUTO_TEST_CASE(locality_keeps_to_near_rails_while_they_have_room_and_spills_when_full) {
  // A near rail that is slow is full most of the time; one that is fast never.
  for (const bool full : {false, true}) {
    PushRig it(1, 2);
    it.scripts[0]->latency = full ? milliseconds(40) : Duration(0);
    it.scripts[1]->latency = milliseconds(1);
    ReadRequest request = it.request();
    request.scheduler = policy("locality");
    request.max_slice_bytes = 256 * kKiB;
    const std::int32_t here = request.chunks[0].numa_node();
    request.rail_nodes = {here, here + 1};
    BOOST_TEST_REQUIRE(it.rig.run(std::move(request)).ok());
    BOOST_TEST(it.rig.complaint(ObjectDemand::whole(kPushedBytes)) == "");
    const auto& rails = it.rig.report.rails;
    BOOST_TEST_MESSAGE("near " << rails[0].bytes << ", far " << rails[1].bytes);
    if (full) {
      BOOST_TEST(rails[1].bytes > rails[0].bytes);
      BOOST_TEST(rails[0].bytes > 0U);
    } else {
      // What it took when the first slices of the near one were under way.
      BOOST_TEST(rails[1].bytes <= 4 * 256 * kKiB);
      BOOST_TEST(rails[0].bytes > 4 * rails[1].bytes);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_a_near_rail_has_room_for_no_other_takes_though_it_asks_first) {
  for (const bool near_only : {false, true}) {
    std::vector<RailPlan> rails = rails_at({125, 125});
    for (RailPlan& rail : rails) rail.window.max_slice_bytes = 256 * kKiB;
    ObjectRig rig(kMiB, kMiB, {rails});
    ReadRequest request = rig.request(ObjectDemand::whole(kMiB), false);
    request.max_slice_bytes = 256 * kKiB;
    const std::int32_t here = request.chunks[0].numa_node();
    request.rail_nodes = {here + 1, here};
    request.scheduler = policy(near_only ? "locality" : "least_loaded");
    BOOST_TEST_REQUIRE(rig.run(std::move(request)).ok());
    BOOST_TEST((rig.report.rails[0].bytes == 0) == near_only);
  }
}

BOOST_AUTO_TEST_CASE(a_rail_that_is_lost_has_no_more_turns) {
  for (const std::string_view name : {"round_robin", "locality"}) {
    auto plans = std::vector<std::vector<RailPlan>>{rails_at({125, 125, 125})};
    plans[0][1].faults.add(Fault(FaultKind::kCut, 2));
    ObjectRig rig(kSize, kMiB, std::move(plans));
    ReadRequest request = rig.request(kWhole, false);
    request.scheduler = policy(name);
    request.retry_on_survivors = true;
    const auto result = rig.run(std::move(request));
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST_REQUIRE(result.ok());
      BOOST_TEST(rig.complaint(kWhole) == "");
      BOOST_TEST(rig.report.attempts == 2U);
    }
  }
}

BOOST_AUTO_TEST_CASE(round_robin_waits_for_the_slowest_and_the_default_does_not) {
  double took[2] = {};
  for (const bool turns : {false, true}) {
    ObjectRig rig(kSize, kMiB, {rails_at({25, 100, 225})});
    ReadRequest request = rig.request(kWhole, false);
    request.max_slice_bytes = 256 * kKiB;
    if (turns) request.scheduler = policy("round_robin");
    BOOST_TEST_REQUIRE(rig.run(std::move(request)).ok());
    took[turns ? 1 : 0] = std::chrono::duration<double>(rig.took).count();
  }
  BOOST_TEST(took[1] > 2 * took[0]);
}

BOOST_AUTO_TEST_CASE(nodes_of_some_rails_only_are_refused) {
  ObjectRig rig(kMiB, kMiB, rails_to(1, 2));
  ReadRequest request = rig.request(ObjectDemand::whole(kMiB), false);
  request.rail_nodes = {0};
  const auto result = rig.run(std::move(request));
  BOOST_TEST_REQUIRE(!result.ok());
  BOOST_TEST((result.error().code() == Errc::kInvalidArgument));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
