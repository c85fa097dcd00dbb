#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "test/hazard/sim_pair.h"

// Whatever goes wrong with a fetch between two nodes, afterwards everything is as it was: leases,
// slices, chunks, descriptors, threads. The world is virtual, the nodes are whole.

namespace corail::test {
namespace {

using sim::PairPlan;
using sim::SimPair;
using std::chrono::milliseconds;
using std::chrono::seconds;

FaultScript script(Fault fault) { return FaultScript().add(std::move(fault)); }

/// One thing that goes wrong.
struct Misfortune {
  std::string name;
  Errc expected = Errc::kUnset;  // kUnset: the fetch commits all the same
  FaultScript faults;            // of the second rail
  bool retry = false;
  Duration deadline = seconds(60);
  /// What befalls the pair a while after the fetch has begun.
  std::function<void(SimPair&)> mishap;
  Duration lease_ttl = seconds(60);
  Duration lease_margin{0};
  std::uint64_t bytes_per_second = 20'000'000;  // some 10 ms for the fetch
};

std::ostream& operator<<(std::ostream& out, const Misfortune& misfortune) {
  return out << misfortune.name;
}

std::vector<Misfortune> all_misfortunes() {
  std::vector<Misfortune> all;
  const auto add = [&](std::string name, Errc expected) -> Misfortune& {
    Misfortune& added = all.emplace_back();
    added.name = std::move(name);
    added.expected = expected;
    return added;
  };
  {
    Misfortune& it = add("the deadline passes", Errc::kDeadline);
    it.faults = script(Fault(FaultKind::kStall, 1));
    it.deadline = milliseconds(20);
  }
  add("a rail is cut", Errc::kConnectionLost).faults =
      script(Fault(FaultKind::kCut, 1).at_packet(2));
  {
    Misfortune& it = add("a rail is cut and the other one brings the rest", Errc::kUnset);
    it.faults = script(Fault(FaultKind::kCut, 1).at_packet(2));
    it.retry = true;
  }
  add("the holder dies", Errc::kConnectionLost).mishap = [](SimPair& pair) { pair.kill_holder(); };
  {
    // The requester believes that it has an hour more than it has, so it renews nothing.
    Misfortune& it = add("the lease expires", Errc::kLeaseExpired);
    it.bytes_per_second = 2'000'000;
    it.lease_ttl = milliseconds(30);
    it.lease_margin = -std::chrono::hours(1);
  }
  add("a slice is too short", Errc::kByteCountMismatch).faults =
      script(Fault(FaultKind::kShort, 1).of(1));
  add("a bit is flipped", Errc::kChecksumMismatch).faults =
      script(Fault(FaultKind::kFlip, 1).of(12'345));
  add("the holder refuses a slice", Errc::kRefused).faults = script(Fault(FaultKind::kRefuse, 1));
  {
    Misfortune& it = add("a fence has no answer", Errc::kDeadline);
    it.faults = script(Fault(FaultKind::kStall, 1)).add(Fault(FaultKind::kStuckFence, 0));
    it.deadline = milliseconds(20);
  }
  {
    Misfortune& it = add("a device hangs", Errc::kStuck);
    it.faults = script(Fault(FaultKind::kStall, 1))
                    .add(Fault(FaultKind::kStuckFence, 0))
                    .add(Fault(FaultKind::kStuckClose, 0));
    it.deadline = milliseconds(20);
  }
  return all;
}

BOOST_AUTO_TEST_SUITE(fault_census)

BOOST_DATA_TEST_CASE(everything_is_given_back, boost::unit_test::data::make(all_misfortunes()),
                     misfortune) {
  const ResourceCensus before;
  {
    PairPlan plan;
    plan.blocks = 12;
    plan.scripts = {FaultScript(), misfortune.faults};
    plan.bytes_per_second = misfortune.bytes_per_second;
    plan.lease_ttl = misfortune.lease_ttl;
    plan.lease_margin = misfortune.lease_margin;
    SimPair pair(plan);
    FetchOptions options;
    options.deadline = misfortune.deadline;
    options.retry_on_survivors = misfortune.retry;
    auto fetch = pair.start(options);
    if (misfortune.mishap) {
      pair.world().run_for(milliseconds(3));
      BOOST_TEST_REQUIRE(fetch.record->landed > 0U);
      misfortune.mishap(pair);
    }
    const auto& report = pair.finish(fetch);
    if (misfortune.expected == Errc::kUnset) {
      BOOST_TEST_REQUIRE(report.ok());
      BOOST_TEST(report->read_bytes == report->needed_bytes);
      BOOST_TEST(report->retried_slices > 0U);
    } else {
      BOOST_TEST_REQUIRE(!report.ok());
      BOOST_TEST((report.error().code() == misfortune.expected), report.error().to_string());
    }
    const bool stuck = misfortune.expected == Errc::kStuck;
    BOOST_TEST((pair.requester().pool().quarantined_chunks() > 0) == stuck);
    BOOST_TEST((pair.requester().pool().outstanding_bytes() > 0) == stuck);
    // A release may still be on its way.
    pair.world().run_for(milliseconds(1));
    if (!stuck) BOOST_TEST(pair.difference() == "");
    BOOST_TEST(pair.close() == "");
  }
  BOOST_TEST(before.difference() == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
