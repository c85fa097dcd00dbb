#pragma once

#include <cstdint>

#include "engine/rail/rail_door.h"
#include "engine/store/block_store.h"
#include "engine/store/object_gate.h"

namespace corail {

/// Lets the doors of a node's ports ask its stores: rail knows no store and stores know no rails.
/// Whose read it is decides which of them is asked, that of blocks or that of objects.
///
/// Owned by the node, next to what it refers to. Set up before a session is admitted; then any
/// thread.
class LeaseGates final : public LeaseGate {
 public:
  /// Null: this node holds none.
  LeaseGates(const BlockStore* blocks, const ObjectGate* objects)
      : blocks_(blocks), objects_(objects) {}

  Result<PinnedBytes> admit(SessionId session, ReadContext context, RegionId region,
                            std::uint64_t offset, std::uint64_t length) override;

 private:
  const BlockStore* const blocks_;
  const ObjectGate* const objects_;
};

}  // namespace corail
