#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/base/region_table.h"

namespace corail {

/// The holder's keys as ReadRequest::region_keys wants them for a rail that goes to this port of
/// the holder's: by index in the table, 0 where the holder told none. Empty where it told none at
/// all, as for a port whose transport has no keys. It does not depend on what the rail is, because
/// one that connects in a moment takes part in the read as well.
std::vector<std::uint64_t> keys_of_port(const RegionTable& regions, std::size_t port);

}  // namespace corail
