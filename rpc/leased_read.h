#pragma once

#include "engine/base/clock.h"
#include "engine/base/region_table.h"
#include "engine/base/result.h"
#include "engine/rail/rail_set.h"
#include "engine/read/read_session.h"

namespace corail {

/// The rails that a read may go over, with the holder's keys for each where it reads the holder's
/// memory; null: the holder writes, and nothing is asked of its regions. The rails outlive the
/// read.
void take_rails(ReadRequest& request, const RailSet& rails, const RegionTable* regions);

/// What became of a read that had until `usable_until`, the end of its lease, or the caller's
/// deadline: where the lease was sooner, that is what ended it.
Result<void> blame_lease(Result<void> result, TimePoint usable_until, TimePoint deadline);

}  // namespace corail
