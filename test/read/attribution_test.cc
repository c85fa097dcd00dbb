#include "engine/read/attribution.h"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace corail {
namespace {

using std::chrono::milliseconds;

/// A read of 40 MB over two rails in 100 ms, in which everybody could have done more.
struct Case {
  Case() {
    report.stages.plan = milliseconds(1);
    report.stages.wait = milliseconds(100);
    report.read_bytes = 40'000'000;
    for (const char* name : {"a", "b"}) {
      RailReport rail;
      rail.name = name;
      rail.bytes = 20'000'000;
      rail.thread = static_cast<std::uint32_t>(report.rails.size());
      rail.times.wait = milliseconds(100);
      rail.times.slices = milliseconds(400);
      rail.times.verify = milliseconds(5);
      rail.times.disk = milliseconds(80);
      report.rails.push_back(rail);
      capacities.push_back({400e6, 1000e6});
    }
    memory = 4e9;
  }

  Attribution judge() const {
    ReadSurroundings with;
    with.rails = capacities;
    with.memory = memory;
    with.disk = disk;
    return attribute(report, with);
  }

  ReadReport report;
  std::vector<RailCapacity> capacities;
  double memory = 0;
  Duration disk = milliseconds(20);
};

BOOST_AUTO_TEST_SUITE(attribution)

BOOST_AUTO_TEST_CASE(each_culprit_is_found_and_its_evidence_told) {
  struct Injection {
    std::function<void(Case&)> slow;
    Bottleneck culprit;
    std::string named, evidence;
  };
  const Injection injections[] = {
      {[](Case& it) {
         for (auto& rail : it.capacities) rail.network = 205e6;
       },
       Bottleneck::kNetwork, "network", "400 MB/s of the 410 MB/s"},
      {[](Case& it) { it.memory = 410e6; }, Bottleneck::kMemory, "memory", "memory needs"},
      {[](Case& it) { it.report.stages.copy = milliseconds(900); }, Bottleneck::kMemory, "memory",
       "900.0 ms of them for the copy"},
      {[](Case& it) { it.disk = milliseconds(97); }, Bottleneck::kDisk, "disk", "97.0 ms"},
      {[](Case& it) {
         it.disk = Duration(0);
         for (auto& rail : it.report.rails) rail.times.disk = milliseconds(390);
       },
       Bottleneck::kDisk, "disk", "slices that were asked for of the owner spent 98 %"},
      {[](Case& it) { it.report.rails[1].times.verify = milliseconds(95); }, Bottleneck::kSoftware,
       "software", "hashing on the busiest thread took 95.0 ms"},
      {[](Case& it) { it.report.rails[0].times.post = milliseconds(92); }, Bottleneck::kSoftware,
       "software", "posting on the busiest thread took 92.0 ms"},
      {[](Case& it) { it.report.stages.plan = milliseconds(900); }, Bottleneck::kSoftware,
       "software", "planning took 900.0 ms"},
      {[](Case& it) { it.report.stages.verify = milliseconds(900); }, Bottleneck::kSoftware,
       "software", "joining and handing over took 900.0 ms"},
      {[](Case& it) { it.capacities[1].pcie = 202e6; }, Bottleneck::kPcie, "pcie",
       "rail b brought 200 MB/s over a PCIe link of 202 MB/s"},
  };
  for (const Injection& injection : injections) {
    Case it;
    injection.slow(it);
    const Attribution found = it.judge();
    BOOST_TEST_CONTEXT(injection.named << ": " << found.evidence) {
      BOOST_TEST((found.bottleneck == injection.culprit));
      BOOST_TEST(to_string(found.bottleneck) == injection.named);
      BOOST_TEST(found.evidence.find(injection.evidence) != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(where_nothing_stands_out_it_says_so) {
  const Attribution found = Case().judge();
  BOOST_TEST((found.bottleneck == Bottleneck::kUnknown));
  BOOST_TEST(
      found.evidence.find("nothing stands out: network accounts for 50 %") != std::string::npos,
      found.evidence);
}

BOOST_AUTO_TEST_CASE(two_that_are_alike_are_none) {
  Case it;
  for (auto& rail : it.capacities) rail.network = 205e6;
  it.disk = milliseconds(97);
  BOOST_TEST((it.judge().bottleneck == Bottleneck::kUnknown));
}

BOOST_AUTO_TEST_CASE(what_nobody_knows_is_nobodys_fault) {
  Case it;
  it.capacities = {RailCapacity()};
  it.memory = 0;
  it.disk = Duration(0);
  BOOST_TEST((it.judge().bottleneck == Bottleneck::kUnknown));
  BOOST_TEST((attribute(ReadReport(), ReadSurroundings()).bottleneck == Bottleneck::kUnknown));
}

BOOST_AUTO_TEST_CASE(a_rail_that_was_down_lends_no_capacity) {
  Case it;
  for (auto& rail : it.capacities) rail.network = 400e6;
  it.report.rails[0].bytes = 39'000'000;
  it.report.rails[1].bytes = 0;
  it.report.rails[1].down = "it was cut";
  BOOST_TEST((it.judge().bottleneck == Bottleneck::kNetwork), it.judge().evidence);
}

BOOST_AUTO_TEST_CASE(rails_that_share_a_thread_share_its_time) {
  Case it;
  for (auto& rail : it.report.rails) rail.times.verify = milliseconds(48);
  BOOST_TEST((it.judge().bottleneck == Bottleneck::kUnknown), it.judge().evidence);
  it.report.rails[1].thread = it.report.rails[0].thread;
  BOOST_TEST((it.judge().bottleneck == Bottleneck::kSoftware), it.judge().evidence);
}

/// Rails to an owner that was done early are idle: that is not the other owner's spare capacity.
BOOST_AUTO_TEST_CASE(the_rails_to_one_owner_can_be_the_whole_reads_limit) {
  Case it;
  it.report.rails[1].owner = 1;
  it.report.rails[0].bytes = 1'000'000;
  it.report.rails[1].bytes = 39'000'000;
  const Attribution found = it.judge();
  BOOST_TEST((found.bottleneck == Bottleneck::kNetwork), found.evidence);
  BOOST_TEST(
      found.evidence.find("the rails to owner 1 carried 390 MB/s of the 400") != std::string::npos,
      found.evidence);
}

BOOST_AUTO_TEST_CASE(an_owner_whose_disk_was_slow_but_done_early_is_not_named) {
  Case it;
  it.report.rails[1].owner = 1;
  it.report.rails[1].times.disk = milliseconds(390);
  BOOST_TEST((it.judge().bottleneck == Bottleneck::kDisk), it.judge().evidence);
  BOOST_TEST(it.judge().evidence.find("of owner 1") != std::string::npos, it.judge().evidence);
  it.report.rails[1].times.wait = milliseconds(30);
  BOOST_TEST((it.judge().bottleneck == Bottleneck::kUnknown), it.judge().evidence);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
