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
    report.verify_cpu = milliseconds(10);
    for (const char* name : {"a", "b"}) {
      RailReport rail;
      rail.name = name;
      rail.bytes = 20'000'000;
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
      {[](Case& it) { it.report.verify_cpu = milliseconds(190); }, Bottleneck::kSoftware,
       "software", "busiest rail 95.0 ms"},
      {[](Case& it) { it.report.stages.submit = milliseconds(180); }, Bottleneck::kSoftware,
       "software", "busiest rail 95.0 ms"},
      {[](Case& it) { it.report.stages.plan = milliseconds(900); }, Bottleneck::kSoftware,
       "software", "joining took 900.0 ms"},
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
