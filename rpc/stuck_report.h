#pragma once

#include "engine/read/stuck_memory.h"
#include "rpc/options.h"

namespace corail {

/// What a node does about memory of a caller's that a device may still write into and does not
/// answer for, see NodeOptions::on_stuck. Any thread.
void report_stuck(const NodeOptions& options, const StuckMemory& stuck);

}  // namespace corail
