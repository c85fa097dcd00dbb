#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/read/attribution.h"
#include "engine/read/read_histograms.h"
#include "test/read/push_rig.h"

// What reads tell of where their time went, measured in reads that were slowed down somewhere.

namespace corail::test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

Attribution judge(const ReadReport& report, double rail_bytes_per_second) {
  const std::vector<RailCapacity> capacities(report.rails.size(), {rail_bytes_per_second, 0});
  ReadSurroundings with;
  with.rails = capacities;
  return attribute(report, with);
}

BOOST_AUTO_TEST_SUITE(read_times)

BOOST_AUTO_TEST_CASE(rails_tell_how_long_their_slices_took) {
  ObjectRig rig(8 * kMiB, kMiB, rails_to(2, 2));
  BOOST_TEST_REQUIRE(rig.run(rig.request(ObjectDemand::whole(8 * kMiB), false)).ok());
  for (std::size_t i = 0; i < rig.report.rails.size(); ++i) {
    const RailReport& rail = rig.report.rails[i];
    BOOST_TEST(rail.owner == i / 2);
    BOOST_TEST(rail.thread == 0U);
    BOOST_TEST((rail.times.wait <= rig.report.stages.wait));
    // Each byte took its time on the wire, and the slices of one window wait for each other.
    const auto wire = Duration(static_cast<std::int64_t>(static_cast<double>(rail.bytes) * 8));
    BOOST_TEST((rail.times.wait >= wire));
    BOOST_TEST((rail.times.slices >= wire));
    BOOST_TEST((rail.times.queue == Duration(0)));
    BOOST_TEST((rail.times.verify > Duration(0)));
    BOOST_TEST((rail.times.post > Duration(0)));
    BOOST_TEST((rail.times.cancel == Duration(0)));
  }
  BOOST_TEST((rig.report.cancel == Duration(0)));
}

BOOST_AUTO_TEST_CASE(a_share_that_waits_for_its_turn_says_how_long) {
  PushRig it(1);
  it.scripts[0]->grant_time = milliseconds(3);
  BOOST_TEST_REQUIRE(it.rig.run(it.request()).ok());
  BOOST_TEST((it.rig.report.rails[0].times.queue == milliseconds(3)));
}

BOOST_AUTO_TEST_CASE(a_cancel_tells_how_long_it_took) {
  PushRig it(1);
  it.scripts[0]->silent = true;
  it.rig.owners[0]->release_answer = OwnerAnswer(ok_result(), milliseconds(7));
  BOOST_TEST(!it.give_up(it.request(), milliseconds(2)).ok());
  BOOST_TEST((it.rig.report.cancel == it.ended - it.asked));
  BOOST_TEST((it.rig.report.cancel >= milliseconds(7)));
  // Its rail was fenced at once.
  BOOST_TEST((it.rig.report.rails[0].times.cancel < milliseconds(1)));
}

BOOST_AUTO_TEST_CASE(retries_are_counted_where_they_went) {
  auto plans = rails_to(1, 2);
  plans[0][1].faults.add(Fault(FaultKind::kCut, 2));
  ObjectRig rig(8 * kMiB, kMiB, std::move(plans));
  ReadRequest request = rig.request(ObjectDemand::whole(8 * kMiB), false);
  request.retry_on_survivors = true;
  BOOST_TEST_REQUIRE(rig.run(std::move(request)).ok());
  BOOST_TEST(rig.report.rails[0].retries > 0U);
  BOOST_TEST(rig.report.rails[0].retries == rig.report.retried_slices);
  BOOST_TEST(rig.report.rails[1].retries == 0U);
}

BOOST_AUTO_TEST_CASE(receipts_are_added_up_and_never_believed_beyond_the_read) {
  PushRig it(1);
  it.scripts[0]->latency = milliseconds(2);
  it.scripts[0]->disk = microseconds(1500);
  BOOST_TEST_REQUIRE(it.rig.run(it.request()).ok());
  const RailReport& rail = it.rig.report.rails[0];
  const auto slices = static_cast<std::int64_t>(rail.reads);
  BOOST_TEST((rail.times.disk == slices * microseconds(1500)));
  BOOST_TEST((rail.times.send == slices * microseconds(500)));
  PushRig liar(1);
  liar.scripts[0]->latency = milliseconds(2);
  liar.scripts[0]->disk = std::chrono::hours(100'000);
  BOOST_TEST_REQUIRE(liar.rig.run(liar.request()).ok());
  const RailReport& told = liar.rig.report.rails[0];
  BOOST_TEST((told.times.disk <= static_cast<std::int64_t>(told.reads) * told.times.wait));
  BOOST_TEST((told.times.send >= Duration(0)));
}

BOOST_AUTO_TEST_CASE(a_full_network_and_a_slow_disk_are_told_apart) {
  ObjectRig rig(16 * kMiB, kMiB, rails_to(1, 2));
  BOOST_TEST_REQUIRE(rig.run(rig.request(ObjectDemand::whole(16 * kMiB), false)).ok());
  const Attribution network = judge(rig.report, 125e6);
  BOOST_TEST((network.bottleneck == Bottleneck::kNetwork), network.evidence);

  PushRig slow(1, 2);
  for (const auto& script : slow.scripts) {
    script->latency = milliseconds(20);
    script->disk = milliseconds(19);
  }
  BOOST_TEST_REQUIRE(slow.rig.run(slow.request()).ok());
  const Attribution disk = judge(slow.rig.report, 12.5e9);
  BOOST_TEST((disk.bottleneck == Bottleneck::kDisk), disk.evidence);

  PushRig neither(1, 2);
  for (const auto& script : neither.scripts) {
    script->latency = milliseconds(20);
    script->disk = milliseconds(8);
  }
  BOOST_TEST_REQUIRE(neither.rig.run(neither.request()).ok());
  const Attribution unknown = judge(neither.rig.report, 12.5e9);
  BOOST_TEST((unknown.bottleneck == Bottleneck::kUnknown), unknown.evidence);
}

BOOST_AUTO_TEST_CASE(histograms_of_reads_add_up) {
  ReadHistograms first;
  ReadHistograms second;
  ReadReport read;
  read.stages.wait = milliseconds(4);
  read.stages.commit = milliseconds(1);
  RailReport rail;
  rail.reads = 4;
  rail.times.slices = milliseconds(8);
  rail.times.disk = milliseconds(2);
  read.rails = {rail, RailReport()};
  first.add(read);
  read.cancel = milliseconds(6);
  read.stages.commit = Duration(0);
  second.add(read);
  first.merge(second);
  BOOST_TEST(first.total.count() == 2U);
  BOOST_TEST((first.wait.quantile(0.5) == milliseconds(4)));
  BOOST_TEST(first.commit.count() == 1U);
  BOOST_TEST(first.cancel.count() == 1U);
  BOOST_TEST((first.cancel.max() == milliseconds(6)));
  // A rail that brought nothing says nothing.
  BOOST_TEST(first.slice.count() == 2U);
  BOOST_TEST((first.slice.max() == milliseconds(2)));
  BOOST_TEST((first.disk.max() == microseconds(500)));
  BOOST_TEST(first.send.count() == 0U);
  BOOST_TEST(first.post.count() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
