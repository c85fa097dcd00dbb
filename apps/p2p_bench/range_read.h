#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/clock.h"
#include "engine/exec/task.h"
#include "rpc/node.h"

namespace corail::bench {

/// One range of lanes of a read, committed by itself.
struct RangeView {
  LaneRange lanes;
  BlockView view;
};

/// A prefix that was read range by range.
struct RangeReads {
  std::vector<RangeView> ranges;  // in order; of a prefix, all lanes
  ReadReport report;              // of the lease and of all its reads
  Duration first{};               // from the start until the first range was committed
};

/// [0, width), [width, 2 width), and so on, up to `lanes`. Neither is 0.
std::vector<LaneRange> ranges_of(std::uint32_t lanes, std::uint32_t width);

/// Leases the prefix and reads it in ranges of `width` lanes, one after the other, as a model that
/// computes layer by layer would. Fails with the first of them that fails. `peer` and `clock`
/// outlive it; on the node's executor.
Task<Result<RangeReads>> read_by_ranges(Peer* peer, Clock* clock,
                                        std::shared_ptr<const Layout> layout,
                                        std::shared_ptr<const BlockKeys> keys, std::uint32_t width,
                                        FetchOptions options);

}  // namespace corail::bench
