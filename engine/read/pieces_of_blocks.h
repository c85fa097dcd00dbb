#pragma once

#include <cstdint>

#include "engine/plan/block_plan.h"
#include "engine/read/piece_verifier.h"

namespace corail {

/// The pieces of a block are its segments, one for each of the plan's lanes.
template <>
struct PiecesOf<BlockPlan> {
  static std::uint32_t units(const BlockPlan& plan) noexcept { return plan.blocks(); }
  static std::uint32_t lanes(const BlockPlan& plan) noexcept {
    return plan.lane_range().end - plan.lane_range().begin;
  }
  static std::uint64_t bits(const BlockPlan& plan) noexcept {
    return std::uint64_t{units(plan)} * lanes(plan);
  }
  static std::uint64_t bit(const BlockPlan& plan, std::uint32_t block,
                           std::uint32_t lane) noexcept {
    return std::uint64_t{block} * lanes(plan) + (lane - plan.lane_range().begin);
  }
};

}  // namespace corail
