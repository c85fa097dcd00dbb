#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/memory/slab_pool.h"
#include "engine/plan/object_plan.h"
#include "engine/read/cancel_token.h"
#include "rpc/fetch_context.h"
#include "rpc/put_messages.h"

namespace corail {

/// One stripe, as it lies in memory of this node: chunks of whole granules, in order.
struct PulledStripe {
  std::shared_ptr<const ObjectPlan> plan;
  std::vector<SlabChunk> chunks;  // by index in plan->chunks()
};

/// One stripe of a put, read from the memory of its writer over the rails to it: a read like any
/// other, of an object that is this stripe, verified against the writer's checksum.
///
/// Lives in the frame that awaits run(), on the home executor.
class PutPull {
 public:
  /// `length`: bytes of the stripe, more than 0; what the request says is the writer's word (I5).
  PutPull(FetchContext context, const PutStripeRequest& request, std::uint64_t length,
          TimePoint deadline, CancelToken cancel);
  PutPull(const PutPull&) = delete;
  PutPull& operator=(const PutPull&) = delete;

  /// Once only. Fails with kBadRunTable (the stripe lies in no region of the writer's),
  /// kChecksumMismatch, or as a read does.
  Task<Result<PulledStripe>> run();

 private:
  Task<Result<void>> know_regions();
  Result<void> plan();
  Task<Result<void>> allocate();
  Task<Result<void>> read();

  const FetchContext context_;
  const PutStripeRequest request_;
  const std::uint64_t length_;
  const TimePoint deadline_;
  const CancelToken cancel_;
  std::shared_ptr<const RegionTable> regions_;
  PulledStripe pulled_;
};

}  // namespace corail
