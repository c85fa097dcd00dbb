#pragma once

#include <cstdint>
#include <string>

#include "engine/plan/block_plan.h"
#include "engine/plan/lane_range.h"
#include "test/plan/scenario.h"

namespace corail::testing {

/// The checks return what is wrong, or an empty string: thousands of them make up one assertion.

/// Every (block, lane) is read from where the scenario says it lies, into where locate() says, and
/// every byte exactly once.
std::string check_replay(const Scenario& scenario, const BlockPlan& plan);

/// Spans and chunks: without gaps, inside one region and one chunk, within the limits, as long as
/// contiguity allows, cut on segment borders.
std::string check_spans(const Scenario& scenario, const BlockPlan& plan, const PlanLimits& limits);

/// Cutting at max_read_bytes: on segment borders where these are near enough, and exactly as many
/// READs as the plan promises.
std::string check_cuts(const Scenario& scenario, const BlockPlan& plan);

/// for_each_segment over [from, to) visits what overlaps it, in order, and nothing else.
std::string check_segments(const BlockPlan& plan, std::uint64_t from, std::uint64_t to);

/// READs of a planner that looks at each segment of those lanes: sorted, fused, split.
std::uint64_t reference_reads(const Scenario& scenario, LaneRange lanes,
                              std::uint64_t max_read_bytes);

}  // namespace corail::testing
