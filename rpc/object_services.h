#pragma once

#include "engine/store/object_gate.h"
#include "engine/store/object_store.h"
#include "rpc/push_staging.h"

namespace corail {

/// What sessions serve objects with: parts of the node, all of which outlive them.
struct ObjectServices {
  ObjectStore& store;
  ObjectGate& gate;
  PushStaging* staging = nullptr;  // null: all stripes are in memory
};

}  // namespace corail
