#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/plan/block_plan.h"
#include "engine/plan/slice_cursor.h"
#include "engine/rail/rail.h"
#include "engine/read/integrity.h"

namespace corail {

/// How often one slice may be flushed by others and be posted again; once more is a rail that
/// flushes for no reason, and would for ever (I8).
inline constexpr std::uint32_t kMaxRepostsPerSlice = 64;

/// std::hardware_destructive_interference_size depends on compiler flags, so GCC warns of it in
/// headers.
inline constexpr std::size_t kCacheLineBytes = 64;

/// What all shares of one read have in common. Immutable but for the cursor and the stop flag (I7).
/// Owned by the read session, whose frame outlives every share's run.
struct SharedRead {
  SharedRead(std::shared_ptr<const BlockPlan> read_plan, std::vector<std::byte*> bases,
             ReadContext read_context, std::uint64_t max_slice, std::uint32_t rail_count)
      : plan(std::move(read_plan)),
        chunk_bases(std::move(bases)),
        context(read_context),
        rails(rail_count),
        max_slice_bytes(max_slice),
        cursor(*plan, max_slice, rail_count) {}

  const std::shared_ptr<const BlockPlan> plan;
  const std::vector<std::byte*> chunk_bases;  // by index in plan->chunks(); pinned by the session
  const ReadContext context;
  const std::uint32_t rails;
  const std::uint64_t max_slice_bytes;
  // Each in a cache line of its own: every rail's thread takes slices and counts, and all look at
  // the flag for each slice.
  alignas(kCacheLineBytes) SliceCursor cursor;
  /// Over all rails: by what part each is of it, they share.
  alignas(kCacheLineBytes) std::atomic<std::uint64_t> landed_bytes{0};
  /// The epoch was bumped: post nothing more.
  alignas(kCacheLineBytes) std::atomic<bool> stopped{false};
};

/// One read's part on one rail: takes slices from the read's cursor while the rail's window has
/// room, hashes what landed, and counts. "The first that is free takes the next" makes a fast rail
/// carry more.
///
/// Shared between the session and the notices it posts to the rail's executor; run() is awaited by
/// the session's join, on the rail's executor, and returns only when every slice has had its
/// outcome. A cancel sets SharedRead::stopped and calls stop_requested(), which makes run() climb
/// the ladder of contract 4: wait where a fence would harm others, fence, close.
class RailShare final : public SliceSource {
 public:
  /// `region_keys` are the rail's, by index in the region table, for every region of the plan;
  /// empty where keys do not exist. `verifier` is null when nothing is to be hashed.
  RailShare(SharedRead& read, Rail& rail, std::vector<std::uint64_t> region_keys,
            std::unique_ptr<BlockVerifier> verifier, Clock& clock, Duration fence_deadline);

  /// Fails with the rail's first failure, the holder's refusal, or kStuck when not even closing the
  /// rail made it quiescent: only then may something still write, and the destination is to be kept
  /// for ever. A share that was stopped ends in success: the session knows why it stopped.
  Task<Result<void>> run();

  /// On the rail's executor, once SharedRead::stopped is set; also after run() has returned.
  void stop_requested();

  std::uint64_t landed_bytes() const noexcept { return landed_bytes_; }
  std::uint64_t reads_posted() const noexcept { return reads_posted_; }
  std::uint64_t errors() const noexcept { return errors_; }
  Duration submit_time() const noexcept { return submit_time_; }
  Duration verify_time() const noexcept { return verify_time_; }
  BlockVerifier* verifier() noexcept { return verifier_.get(); }
  Rail& rail() noexcept { return rail_; }

  std::optional<Slice> next(std::uint64_t max_bytes) noexcept override;
  ReadContext context() const noexcept override { return read_.context; }
  void on_landed(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept override;
  void on_outcome(const Slice& slice, Result<void> outcome) noexcept override;

 private:
  /// What became of a posted slice so far.
  struct Progress {
    std::uint64_t tag = 0;
    std::uint64_t length = 0;
    std::uint64_t landed = 0;   // as the transport has reported it
    std::uint32_t reposts = 0;  // how often it was posted again
  };
  /// Flushed by somebody else's fence: to be posted again.
  struct Flushed {
    Slice slice;
    std::uint32_t reposts = 0;
  };

  bool giving_up() const noexcept;
  bool has_fair_part() const noexcept;
  bool done() const noexcept;
  void started(const Slice& slice, std::uint32_t reposts);
  Progress ended(const Slice& slice) noexcept;
  void flushed(const Slice& slice, std::uint32_t reposts) noexcept;
  void fail(Error error) noexcept;
  void hash(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept;
  Task<void> make_quiescent();
  Task<void> wait_for_outcomes(TimePoint until);

  SharedRead& read_;
  Rail& rail_;
  const std::vector<std::uint64_t> region_keys_;
  const std::unique_ptr<BlockVerifier> verifier_;
  Clock& clock_;
  const Duration fence_deadline_;
  Event changed_;
  std::vector<Flushed> flushed_;
  std::vector<Progress> in_flight_;
  std::optional<Error> failure_;
  std::optional<Error> stuck_;
  std::uint64_t landed_bytes_ = 0;
  std::uint64_t reads_posted_ = 0;
  std::uint64_t errors_ = 0;
  bool exhausted_ = false;
  bool running_ = false;
  Duration submit_time_{};
  Duration verify_time_{};
};

}  // namespace corail
