#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/memory/region_registry.h"
#include "engine/rail/rail_door.h"
#include "rpc/rail_host.h"
#include "test/sim/model.h"
#include "test/sim/plants.h"

namespace corail::sim {

/// Stands between a holder's doors and its store: tells the model what was admitted.
class ObservingGate final : public LeaseGate {
 public:
  ObservingGate(LeaseGate& inner, Model& model, std::size_t node)
      : inner_(inner), model_(model), node_(node) {}

  Result<PinnedBytes> admit(SessionId session, ReadContext context, RegionId region,
                            std::uint64_t offset, std::uint64_t length) override;

 private:
  LeaseGate& inner_;
  Model& model_;
  const std::size_t node_;
};

/// Stands between a node's sessions and its doors: tells the model which session the requester has
/// come to.
class ObservingHost final : public RailHost {
 public:
  /// Says for which link the other node opens rails right now.
  using Opening = std::function<std::size_t()>;
  ObservingHost(RailHost& inner, Model& model, Opening opening)
      : inner_(inner), model_(model), opening_(std::move(opening)) {}

  Task<Result<std::vector<RailEndpoint>>> admit(SessionId session) override;
  Task<Result<std::string>> greet(SessionId session, std::uint32_t door,
                                  std::string words) override;
  Task<void> drop(SessionId session) override;

 private:
  RailHost& inner_;
  Model& model_;
  const Opening opening_;
};

/// A gate with a planted bug: it admits what the store refuses, or hands out bytes without a pin.
class PlantedGate final : public LeaseGate {
 public:
  PlantedGate(LeaseGate& inner, const RegionRegistry& regions, Plant plant)
      : inner_(inner), regions_(regions), plant_(plant) {}

  Result<PinnedBytes> admit(SessionId session, ReadContext context, RegionId region,
                            std::uint64_t offset, std::uint64_t length) override;

 private:
  LeaseGate& inner_;
  const RegionRegistry& regions_;
  const Plant plant_;
};

}  // namespace corail::sim
