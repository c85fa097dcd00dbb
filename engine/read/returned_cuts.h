#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/plan/read_plan.h"
#include "engine/plan/slice_cursor.h"

namespace corail {

/// A part of a plan's linear space that was handed out and has not landed.
struct LostCut {
  std::uint64_t linear = 0;
  std::uint64_t length = 0;
};

/// What rails that failed have given back: the rest of the read, behind the cursor. Each byte is
/// handed out once for each time it is given back. No longer than what the rails may have posted
/// (I8). Owned by the read; the plan must outlive it. Any thread; the lock is held for the list
/// only.
class ReturnedCuts {
 public:
  explicit ReturnedCuts(const ReadPlan& plan) : plan_(plan) {}

  /// The cuts must be quiescent (I3).
  void give_back(std::span<const LostCut> cuts);

  /// One of them, or as much of it as `most` bytes allow, ending like a cut of the cursor.
  std::optional<SliceCursor::Cut> take(std::uint64_t most);

  std::uint64_t bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  const ReadPlan& plan_;
  std::mutex mutex_;
  std::vector<LostCut> cuts_;
  std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace corail
