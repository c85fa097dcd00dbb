#pragma once

#include <span>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/memory/slab_pool.h"
#include "engine/plan/read_plan.h"
#include "engine/read/cancel_token.h"
#include "rpc/fetch_context.h"

namespace corail {

/// What a plan says to allocate, all of it or nothing. Memory that is mapped is taken at once; new
/// slabs are made off home, which goes on while the kernel clears them and devices register them.
/// `specs` live until this returns. Fails as SlabPool::allocate, and with kCancelled and kDeadline
/// between two allocations.
Task<Result<std::vector<SlabChunk>>> allocate_chunks(FetchContext context,
                                                     std::span<const ChunkSpec> specs,
                                                     CancelToken cancel, TimePoint deadline);

}  // namespace corail
