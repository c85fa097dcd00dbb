#pragma once

#include <cstdint>
#include <span>

#include "apps/p2p_bench/bench_shape.h"
#include "engine/plan/lane_range.h"
#include "engine/read/block_view.h"

namespace corail::bench {

struct ContentCheck {
  std::uint64_t checked_bytes = 0;
  std::uint64_t wrong_bytes = 0;
};

/// Compares every byte of the view, through its own arithmetic, with the content of the set's
/// blocks that were asked for in `order`, of which the view has the first ones; on as many threads
/// as there are cores where it is worth one. A view of some lanes is compared in those.
ContentCheck check_content(const BlockView& view, const Shape& shape, std::uint32_t set,
                           std::span<const std::uint32_t> order, LaneRange lanes = {});

}  // namespace corail::bench
