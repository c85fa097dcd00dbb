#pragma once

#include <string>

#include "engine/verbs/device_facts.h"

namespace corail {

/// The address that a port's packets carry, for people: "10.0.0.1", "fe80::1", "lid 7".
std::string gid_text(const GidEntry& gid, const PortFacts& facts);

}  // namespace corail
