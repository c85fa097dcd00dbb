#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "engine/plan/read_plan.h"
#include "engine/plan/schedule.h"
#include "engine/plan/slice_cursor.h"

namespace corail {

/// Gives one owner's slices to the rails that a policy names, where that is not simply the next
/// that has room. Slices are cut in order and one at a time: the next one lies ready until the rail
/// takes it that may. So whoever was refused asks again after each slice that another took. A rail
/// that took a slice counts as full until it asks again or a slice of it ends: who has room asks
/// on.
///
/// Owned by the read; plan and cursor outlive it. Any thread, once every rail was added; the lock
/// is held for one decision.
class SliceDealer {
 public:
  /// `chunk_nodes`: the NUMA node of each chunk of the plan, -1 where nobody knows.
  SliceDealer(const ReadPlan& plan, SliceCursor& cursor,
              std::shared_ptr<const SchedulePolicy> policy, std::uint64_t max_slice,
              std::vector<std::int32_t> chunk_nodes);

  /// A rail whose port is near the node; -1: nobody knows. Its number, for the others.
  std::size_t add_rail(std::int32_t numa_node);

  /// The next slice, or as much of it as `most` bytes allow, if it is for this rail now.
  std::optional<SliceCursor::Cut> take(std::size_t rail, std::uint64_t most) noexcept;

  /// A slice of so many bytes that the rail took has ended.
  void ended(std::size_t rail, std::uint64_t bytes) noexcept;
  /// The rail takes no more.
  void leave(std::size_t rail) noexcept;

  /// Bytes that no rail has taken yet.
  std::uint64_t left() const noexcept;

 private:
  const ReadPlan& plan_;
  SliceCursor& cursor_;
  const std::shared_ptr<const SchedulePolicy> policy_;
  const std::uint64_t max_slice_;
  const std::vector<std::int32_t> chunk_nodes_;
  mutable std::mutex mutex_;
  std::vector<RailLoad> rails_;
  std::optional<SliceCursor::Cut> next_;
  std::uint64_t number_ = 0;  // of next_
};

}  // namespace corail
