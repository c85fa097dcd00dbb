#pragma once

#include <asio/any_io_executor.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/exec/task.h"
#include "engine/plan/read_plan.h"

namespace corail {

/// What one thread copies before it lets others have a turn: some hundred microseconds.
inline constexpr std::uint64_t kCopyStepBytes = kMiB;

/// Copies what a read has committed into memory of the caller's own, to where the plan says
/// (ReadPlan::for_each_copy). Only what the plan reads is written.
///
/// The work is shared by the executors of the read's rails, whose threads are near the memory and
/// were busy with this read until now; each gives way to its other reads after every step. Home,
/// which keeps all control connections alive, copies next to nothing. A copy cannot be cancelled
/// and does not fail: what the read came to was decided before (contract 2).
///
/// Lives in the read's frame, on home. The memory at both ends is kept by the read.
class CommitCopy {
 public:
  /// `chunk_bases` by index in plan->chunks(); `destination` has plan->copy_bytes() bytes.
  /// `where`: the executors to copy on, each once.
  CommitCopy(std::shared_ptr<const ReadPlan> plan, std::vector<std::byte*> chunk_bases,
             std::span<std::byte> destination, std::vector<asio::any_io_executor> where);
  CommitCopy(const CommitCopy&) = delete;
  CommitCopy& operator=(const CommitCopy&) = delete;

  /// Once only. Copies all there is, or, where memory for doing so is short, a part or throws.
  Task<void> spread();
  /// Once spread() has ended: copies what it has left, at once and here, so that committed bytes
  /// are handed over whatever else fails.
  void finish() noexcept;

 private:
  bool step() noexcept;
  void copy(std::uint64_t from, std::uint64_t to) noexcept;
  Task<Result<void>> work();

  const std::shared_ptr<const ReadPlan> plan_;
  const std::vector<std::byte*> chunk_bases_;
  const std::span<std::byte> destination_;
  const std::vector<asio::any_io_executor> where_;
  std::atomic<std::uint64_t> next_{0};  // of the plan's linear space: nobody has taken it yet
};

}  // namespace corail
