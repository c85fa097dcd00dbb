#pragma once

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "test/support/read_rig.h"

// For tests of reads over rails that are lost, and come back.

namespace corail::test {

inline FaultScript script(Fault fault) { return FaultScript().add(std::move(fault)); }
inline FaultScript cut_at(std::uint64_t slice) { return script(Fault(FaultKind::kCut, slice)); }

inline HeldShape large_shape() {
  HeldShape shape;
  shape.blocks = 64;  // 4 MiB: four windows of a rail
  return shape;
}

/// Rails that are rebuilt; `bad` is how the first generation of the second one misbehaves.
inline std::vector<RailPlan> rails(std::size_t count, FaultScript bad, std::uint64_t rate) {
  std::vector<RailPlan> plans(count);
  for (RailPlan& plan : plans) {
    plan.rebuilt = true;
    plan.options.link.bytes_per_second = rate;
  }
  plans[count > 1 ? 1 : 0].faults = std::move(bad);
  return plans;
}

inline void check_failed(const Result<void>& result, Errc expected) {
  BOOST_TEST_REQUIRE(!result.ok());
  BOOST_TEST((result.error().code() == expected), text_of(result));
}

}  // namespace corail::test
