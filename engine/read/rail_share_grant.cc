// How a share of a pushed read lets its owner write.
#include <algorithm>
#include <utility>

#include "engine/read/rail_share.h"

namespace corail {

/// The chunks that the owner's bytes land in, and nothing else of the read.
std::vector<std::span<std::byte>> RailShare::memory_of_owner() const {
  std::vector<bool> used(read_.chunk_bases.size());
  for (const ReadPlan::Span& span : read_.plan->spans_of(part_.number)) used[span.chunk] = true;
  std::vector<std::span<std::byte>> memory;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (used[i]) memory.emplace_back(read_.chunk_bases[i], read_.plan->chunks()[i].bytes);
  }
  return memory;
}

Task<void> RailShare::open_to_owner() {
  // Nobody can stop a device that registers memory: a cancel waits for it, so it has as long as a
  // fence may take (contract 3).
  const TimePoint deadline = clock_.now() + fence_deadline_;
  auto memory = memory_of_owner();
  auto granted = co_await rail_.grant(*this, std::move(memory), deadline);
  if (granted) {
    granted_ = true;
    rail_.ask_again(*this);
    co_return;
  }
  // Whatever the device says, what it cannot do here other rails may be able to do.
  fail(Error(Errc::kRailFailed, "the rail could not let the owner write into the destination: " +
                                    granted.error().to_string()));
}

}  // namespace corail
