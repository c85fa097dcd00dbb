#pragma once

#include <cstdint>

#include "engine/rail/rail_door.h"
#include "engine/store/block_store.h"

namespace corail {

/// Lets the doors of a node's ports ask its store: rail knows no store and store knows no rails.
/// Owned by the node, next to the store it refers to. Any thread.
class StoreGate final : public LeaseGate {
 public:
  explicit StoreGate(const BlockStore& store) : store_(store) {}

  Result<PinnedBytes> admit(SessionId session, ReadContext context, RegionId region,
                            std::uint64_t offset, std::uint64_t length) override {
    return store_.admit(session, context.read, region, offset, length);
  }

 private:
  const BlockStore& store_;
};

}  // namespace corail
