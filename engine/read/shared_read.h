#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/plan/read_plan.h"
#include "engine/plan/slice_cursor.h"
#include "engine/rail/slice.h"
#include "engine/read/returned_cuts.h"
#include "engine/read/slice_dealer.h"
#include "engine/read/stuck_memory.h"

namespace corail {

/// std::hardware_destructive_interference_size depends on compiler flags, so GCC warns of it in
/// headers.
inline constexpr std::size_t kCacheLineBytes = 64;

/// One owner's part of a read, which only the rails to that owner can bring. Shared by their shares
/// (I7).
struct OwnerPart {
  /// `owner` of the plan; `rail_count` rails to it, at least one.
  OwnerPart(const ReadPlan& plan, std::size_t owner, std::uint64_t max_slice,
            std::uint32_t rail_count)
      : bytes(plan.owner_end(owner) - plan.owner_begin(owner)),
        rails(rail_count),
        number(owner),
        cursor(plan, owner, max_slice, kSliceFloorBytes, rail_count),
        returned(plan),
        survivors(rail_count) {}

  /// Bytes that no rail has taken yet, but for those that were given back.
  std::uint64_t left() const noexcept { return dealer ? dealer->left() : cursor.remaining(); }
  bool all_landed() const noexcept { return landed_bytes.load(std::memory_order_relaxed) == bytes; }

  const std::uint64_t bytes;
  const std::uint32_t rails;
  const std::size_t number;  // of the owner, in the plan
  /// Makes every share of it look again for slices, and whether it is complete, on its own rail's
  /// executor. Any thread. Set before the first share runs.
  std::function<void()> wake;
  /// Decides whose a slice is; none: that of the first rail with room. Set likewise.
  std::unique_ptr<SliceDealer> dealer;
  // Each in a cache line of its own: every rail's thread takes slices and counts.
  alignas(kCacheLineBytes) SliceCursor cursor;
  /// Over all rails: by what part each is of it, they share.
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> landed_bytes{0};
  // Touched when a rail fails only.
  alignas(kCacheLineBytes) ReturnedCuts returned;
  std::atomic<std::uint32_t> survivors;  // shares that have not failed
};

/// What all shares of one read have in common. Immutable but for the parts and the counters (I7).
/// Owned by the read session, whose frame outlives every share's run.
struct SharedRead {
  /// `rails_of_owner`: how many rails reach each of the plan's owners, at least one.
  SharedRead(std::shared_ptr<const ReadPlan> read_plan, std::vector<std::byte*> bases,
             ReadContext read_context, std::uint64_t max_slice,
             std::span<const std::uint32_t> rails_of_owner, bool retry_on_survivors)
      : plan(std::move(read_plan)),
        chunk_bases(std::move(bases)),
        context(read_context),
        max_slice_bytes(max_slice),
        retry(retry_on_survivors),
        may_give_back(retry_on_survivors) {
    for (std::size_t owner = 0; owner < rails_of_owner.size(); ++owner) {
      parts.push_back(std::make_unique<OwnerPart>(*plan, owner, max_slice, rails_of_owner[owner]));
    }
  }

  const std::shared_ptr<const ReadPlan> plan;
  const std::vector<std::byte*> chunk_bases;  // by index in plan->chunks(); pinned by the session
  const ReadContext context;
  const std::uint64_t max_slice_bytes;
  /// What a rail of the read fails to bring, the others bring (contract 6).
  const bool retry;
  /// Some share may give back what it had, so that the others stay until all bytes have landed: the
  /// read retries, or one of its rails is on trial. Set before the first share runs.
  bool may_give_back;
  /// Its slices are written by the owners, see Slice::pushed. Set before the first share runs.
  bool pushed = false;
  /// Set where the destination is a caller's own, which nobody can keep from him for ever: a share
  /// that does not become quiescent says so here, on its rail's executor, and then waits until it
  /// is (contract 4). Empty: the destination is the engine's. Set likewise.
  std::function<void(const StuckMemory&)> on_stuck;
  std::vector<std::unique_ptr<OwnerPart>> parts;  // by owner
  /// The epoch was bumped: post nothing more. All look at it for each slice.
  alignas(kCacheLineBytes) std::atomic<bool> stopped{false};
  std::atomic<std::uint32_t> attempts{1};  // one more each time that slices were given back
};

}  // namespace corail
