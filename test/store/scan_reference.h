#pragma once

#include <span>
#include <string_view>

#include "engine/plan/run_table.h"
#include "engine/store/store_state.h"

namespace corail::testing {

/// The run table of stored blocks, the slow way: every segment's address is asked for, and a run of
/// a part goes on as long as each single lane of it does, within one shape and region.
RunTable reference_runs(const detail::StoreState& store, std::string_view name_space,
                        std::span<const std::string_view> hashes);

/// The same with the planner's own encoder, lane by lane; equal where all blocks have one shape.
RunTable encoder_runs(const detail::StoreState& store, std::string_view name_space,
                      std::span<const std::string_view> hashes, const RegionTable& regions);

}  // namespace corail::testing
