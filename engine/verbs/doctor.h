#pragma once

#include <string>
#include <vector>

#include "engine/verbs/machine_facts.h"
#include "engine/verbs/verbs_api.h"

namespace corail {

/// Looks at this machine: its RDMA devices through `api`, the rest in the kernel's files under
/// `root` ("" but in tests). Opens and closes each device and changes nothing. A device that does
/// not answer is part of the report, not a failure. Blocks for some milliseconds a device.
MachineFacts examine_machine(const VerbsApi& api, const std::string& root);

/// For each problem one sentence: what it is, and what to do. Pure; empty where all is well. Of a
/// port that is down nothing else is told, nor of memory where there is no device to register it
/// with.
std::vector<std::string> advise(const MachineFacts& machine);

}  // namespace corail
