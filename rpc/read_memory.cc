#include "rpc/read_memory.h"

#include <utility>

#include "engine/exec/run_on.h"

namespace corail {
namespace {

/// What is given up by then, and how long there is time.
struct MappingLimits {
  CancelToken cancel;
  Clock* clock = nullptr;
  TimePoint deadline{};
};

/// All of them or none. In one go, so that of two reads for which there is not room enough one has
/// what it needs.
Task<Result<std::vector<SlabChunk>>> map_chunks(SlabPool* memory, std::span<const ChunkSpec> specs,
                                                MappingLimits limits) {
  std::vector<SlabChunk> chunks;
  for (const ChunkSpec& spec : specs) {
    if (limits.cancel.cancelled()) co_return Error(Errc::kCancelled, "the caller gave up");
    if (limits.clock->now() >= limits.deadline) {
      co_return Error(Errc::kDeadline,
                      "no time was left once there was memory for the read; allow it more");
    }
    auto chunk = memory->allocate(spec.bytes, spec.numa_node);
    if (!chunk) co_return std::move(chunk).error();
    chunks.push_back(std::move(*chunk));
  }
  co_return std::move(chunks);
}

}  // namespace

Task<Result<std::vector<SlabChunk>>> allocate_chunks(FetchContext context,
                                                     std::span<const ChunkSpec> specs,
                                                     CancelToken cancel, TimePoint deadline) {
  std::vector<SlabChunk> chunks;
  chunks.reserve(specs.size());
  while (chunks.size() < specs.size()) {
    const ChunkSpec& spec = specs[chunks.size()];
    auto chunk = context.memory.allocate_mapped(spec.bytes, spec.numa_node);
    if (!chunk) break;
    chunks.push_back(std::move(*chunk));
  }
  if (chunks.size() == specs.size()) co_return std::move(chunks);
  // Nothing is held meanwhile, because another read that waits for its turn there may need it.
  chunks.clear();
  MappingLimits limits;
  limits.cancel = std::move(cancel);
  limits.clock = &context.clock;
  limits.deadline = deadline;
  auto mapped =
      co_await run_on(context.mapping, map_chunks(&context.memory, specs, std::move(limits)));
  co_return mapped;
}

}  // namespace corail
