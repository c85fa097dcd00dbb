#pragma once

#include "engine/rail/verbs/verbs_rail_door.h"

namespace corail {

/// In the frame of a coroutine that close() waits for.
class VerbsRailDoor::UnderWay {
 public:
  explicit UnderWay(VerbsRailDoor& door) : door_(door) { ++door_.under_way_; }
  ~UnderWay() {
    --door_.under_way_;
    door_.ended_.notify();
  }
  UnderWay(const UnderWay&) = delete;
  UnderWay& operator=(const UnderWay&) = delete;

 private:
  VerbsRailDoor& door_;
};

}  // namespace corail
