#pragma once

#include <cstdint>
#include <vector>

#include "engine/base/region_table.h"
#include "engine/rail/rail_set.h"

namespace corail {

/// The holder's keys as ReadRequest::region_keys wants them: for each rail those of the port that
/// it goes to. Empty where no rail needs any.
std::vector<std::vector<std::uint64_t>> keys_of_rails(const RailSet& rails,
                                                      const RegionTable& regions);

}  // namespace corail
