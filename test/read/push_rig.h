#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/push_source.h"
#include "test/read/object_rig.h"
#include "test/read/pushing_rail.h"

namespace corail::test {

/// Of the object that PushRig reads: whole stripes of 1 MiB, and a few bytes.
inline constexpr std::uint64_t kPushedBytes = 6 * kMiB + 11;

/// Owners that write what the scripts say, and as many rails to each.
struct PushRig {
  explicit PushRig(std::size_t nodes, std::size_t rails_each = 1)
      : rig(kPushedBytes, kMiB, std::vector<std::vector<RailPlan>>(nodes)),
        region(pushed_region(*rig.held.descriptor).value()) {
    for (std::uint32_t node = 0; node < nodes; ++node) {
      rig.held.sources[node] = pushed_stripes(*rig.held.descriptor, node, region);
      for (std::size_t i = 0; i < rails_each; ++i) {
        auto& script = scripts.emplace_back(std::make_unique<PushScript>());
        script->object = rig.held.content;
        owner_of.push_back(node);
      }
    }
  }

  /// Once the scripts are written.
  ReadRequest request(const ObjectDemand& demand = ObjectDemand::whole(kPushedBytes)) {
    ReadRequest request = rig.request(demand, true);
    request.pushed = true;
    for (std::size_t i = rails.size(); i < scripts.size(); ++i) {
      rails.push_back(
          std::make_unique<PushingRail>(rig.world, "push" + std::to_string(i), *scripts[i]));
    }
    for (std::size_t i = 0; i < scripts.size(); ++i) {
      request.rails.push_back(rails[i]->get());
      request.rail_owners.push_back(owner_of[i]);
    }
    cancel = request.cancel;
    return request;
  }

  /// Starts the read, gives it up after `after`, and runs to its end.
  Result<void> give_up(ReadRequest request, Duration after) {
    for (const auto& owner : rig.owners) owner->lease(request.read);
    ReadSession session(rig.world.executor(), rig.world.clock(), *rig.group, std::move(request));
    const auto outcome = rig.world.start(session.run(rig.report));
    rig.world.run_for(after);
    CORAIL_CHECK(!outcome->has_value(), "the read lasts until it is given up");
    asked = rig.world.now();
    cancel.cancel();
    while (!outcome->has_value()) CORAIL_CHECK(rig.world.step(), "a read ends");
    ended = rig.world.now();
    return **outcome;
  }

  ObjectRig rig;
  RegionTable region;
  std::vector<std::unique_ptr<PushScript>> scripts;
  std::vector<std::uint32_t> owner_of;
  std::vector<std::unique_ptr<PushingRail>> rails;
  CancelToken cancel;
  TimePoint asked{};
  TimePoint ended{};
};

}  // namespace corail::test
