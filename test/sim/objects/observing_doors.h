#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/rail/rail_door.h"
#include "rpc/rail_host.h"
#include "test/sim/objects/model.h"
#include "test/sim/plants.h"

namespace corail::sim {

/// Stands between a node's doors and what it serves: tells the model what is about to be sent to
/// those who read.
class ServedGate final : public LeaseGate {
 public:
  ServedGate(LeaseGate& inner, ObjectModel& model, std::size_t node)
      : inner_(inner), model_(model), node_(node) {}

  Result<PinnedBytes> admit(SessionId session, ReadContext context, RegionId region,
                            std::uint64_t offset, std::uint64_t length) override;

 private:
  LeaseGate& inner_;
  ObjectModel& model_;
  const std::size_t node_;
};

/// A gate with a planted bug: now and then a byte of what it admits is another one.
class SpoilingGate final : public LeaseGate {
 public:
  SpoilingGate(LeaseGate& inner, Plant plant) : inner_(inner), plant_(plant) {}

  Result<PinnedBytes> admit(SessionId session, ReadContext context, RegionId region,
                            std::uint64_t offset, std::uint64_t length) override;

 private:
  LeaseGate& inner_;
  const Plant plant_;
  std::uint64_t admitted_ = 0;
};

/// Stands between a node's sessions and its doors: tells the model what is pushed. With planted
/// bugs: what is pushed has no pin; or doors, whose gate is open, do not hear that a session has
/// ended, so that nobody refuses what comes late over it.
class PushObserver final : public RailHost {
 public:
  PushObserver(RailHost& inner, ObjectModel& model, std::size_t node, Plant plant)
      : inner_(inner), model_(model), node_(node), plant_(plant) {}

  Task<Result<std::vector<RailEndpoint>>> admit(SessionId session) override;
  Task<Result<std::string>> greet(SessionId session, std::uint32_t door,
                                  std::string words) override;
  Task<Result<void>> push(SessionId session, std::uint32_t door, PushOrder order, PinnedBytes bytes,
                          std::function<bool()> cancelled) override;
  Task<void> drop(SessionId session) override;

 private:
  RailHost& inner_;
  ObjectModel& model_;
  const std::size_t node_;
  const Plant plant_;
};

}  // namespace corail::sim
