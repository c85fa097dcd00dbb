#pragma once

#include <cstdint>
#include <vector>

#include "apps/p2p_bench/bench_shape.h"
#include "apps/p2p_bench/verify.h"
#include "rpc/node.h"

namespace corail::bench {

/// Memory as `reads` reads of a set get it: while no view is alive these are the warm bytes that
/// they had. Fails as SlabPool::allocate().
Result<std::vector<SlabChunk>> allocate_like_reads(SlabPool& memory, const Shape& shape,
                                                   std::uint32_t reads);

/// Takes the memory that reads which were given up had, as its next owner does, fills it, and looks
/// after a while for bytes that somebody else wrote (I1). No view may be alive. Called from outside
/// of the node's threads.
Result<ContentCheck> check_reused_memory(Node& node, Clock& clock, const Shape& shape,
                                         std::uint32_t reads);

}  // namespace corail::bench
