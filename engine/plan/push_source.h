#pragma once

#include <cstdint>

#include "engine/base/region_table.h"
#include "engine/base/result.h"
#include "engine/object/object_descriptor.h"
#include "engine/plan/object_demand.h"

namespace corail {

/// The region that an owner which writes has in place of memory: the whole object, from address 0,
/// so that a slice's offset in the region is its offset in the object (Slice::pushed). None where
/// the object is empty. Fails with kProtocol: the descriptor may be a peer's (I5).
Result<RegionTable> pushed_region(const ObjectDescriptor& object);

/// What such an owner, the descriptor's node `node`, has of the object. `region` is that of
/// pushed_region(), and outlives the planning. The descriptor is checked when it is planned.
StripeSource pushed_stripes(const ObjectDescriptor& object, std::uint32_t node,
                            const RegionTable& region);

}  // namespace corail
