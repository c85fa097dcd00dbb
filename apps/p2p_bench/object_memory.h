#pragma once

#include <vector>

#include "apps/p2p_bench/object_work.h"
#include "apps/p2p_bench/stored_sets.h"
#include "engine/base/result.h"
#include "engine/memory/slab_pool.h"
#include "rpc/options.h"

namespace corail::bench {

/// The holder's store: room for each object and for one generation more, because a put replaces its
/// predecessor only when it is complete.
NodeObjectOptions object_options_for(const ObjectWork& work, const Shape& shape);

/// What the raw loop sends where objects are read: memory of the size of one, the same for each
/// set. What is in it does not matter. The chunks go back to `memory` when this goes.
class ObjectMemory {
 public:
  static Result<ObjectMemory> allocate(SlabPool& memory, const Shape& shape);

  const std::vector<SourceMemory>& sets() const noexcept { return sets_; }

 private:
  std::vector<SlabChunk> chunks_;
  std::vector<SourceMemory> sets_;
};

}  // namespace corail::bench
