#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "engine/plan/block_plan.h"
#include "engine/plan/slice_cursor.h"
#include "engine/rail/slice.h"
#include "engine/read/returned_cuts.h"

namespace corail {

/// std::hardware_destructive_interference_size depends on compiler flags, so GCC warns of it in
/// headers.
inline constexpr std::size_t kCacheLineBytes = 64;

/// What all shares of one read have in common. Immutable but for the cursor, what was given back
/// and the counters (I7). Owned by the read session, whose frame outlives every share's run.
struct SharedRead {
  SharedRead(std::shared_ptr<const BlockPlan> read_plan, std::vector<std::byte*> bases,
             ReadContext read_context, std::uint64_t max_slice, std::uint32_t rail_count,
             bool retry_on_survivors)
      : plan(std::move(read_plan)),
        chunk_bases(std::move(bases)),
        context(read_context),
        rails(rail_count),
        max_slice_bytes(max_slice),
        retry(retry_on_survivors),
        may_give_back(retry_on_survivors),
        cursor(*plan, max_slice, rail_count),
        returned(*plan),
        survivors(rail_count) {}

  bool all_landed() const noexcept {
    return landed_bytes.load(std::memory_order_relaxed) == plan->total_bytes();
  }

  const std::shared_ptr<const BlockPlan> plan;
  const std::vector<std::byte*> chunk_bases;  // by index in plan->chunks(); pinned by the session
  const ReadContext context;
  const std::uint32_t rails;
  const std::uint64_t max_slice_bytes;
  /// What a rail of the read fails to bring, the others bring (contract 6).
  const bool retry;
  /// Some share may give back what it had, so that the others stay until all bytes have landed: the
  /// read retries, or one of its rails is on trial. Set before the first share runs.
  bool may_give_back;
  /// Makes every share look again for slices, and whether the read is complete, on its own rail's
  /// executor. Any thread. Set before the first share runs.
  std::function<void()> wake;
  // Each in a cache line of its own: every rail's thread takes slices and counts, and all look at
  // the flag for each slice.
  alignas(kCacheLineBytes) SliceCursor cursor;
  /// Over all rails: by what part each is of it, they share.
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> landed_bytes{0};
  /// The epoch was bumped: post nothing more.
  alignas(kCacheLineBytes) std::atomic<bool> stopped{false};
  // Touched when a rail fails only.
  ReturnedCuts returned;
  std::atomic<std::uint32_t> survivors;    // shares that have not failed
  std::atomic<std::uint32_t> attempts{1};  // one more each time that slices were given back
};

}  // namespace corail
