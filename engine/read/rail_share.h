#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/rail/rail.h"
#include "engine/read/read_integrity.h"
#include "engine/read/read_report.h"
#include "engine/read/returned_cuts.h"
#include "engine/read/shared_read.h"

namespace corail {

/// How often one slice may be flushed by others and be posted again; once more is a rail that
/// flushes for no reason, and would for ever (I8).
inline constexpr std::uint32_t kMaxRepostsPerSlice = 64;

/// A read that brings no more than this over each rail is small, see Slice::of_small_read.
inline constexpr std::uint64_t kSmallBytesPerRail = kMiB;

/// One read's part on one rail: takes slices from the read's cursor while the rail's window has
/// room, hashes what landed, and counts. "The first that is free takes the next" makes a fast rail
/// carry more.
///
/// Shared between the session and the notices it posts to the rail's executor; run() is awaited by
/// the session's join, on the rail's executor, and returns only when every slice has had its
/// outcome. A cancel sets SharedRead::stopped and calls stop_requested(), which makes run() climb
/// the ladder of contract 4: wait where a fence would harm others, fence, close.
///
/// Of a pushed read it first lets the owner write into the destination, and takes that back when
/// nothing of it is in flight any more.
///
/// Where the read retries, a share whose path fails does the same, and then gives back what it had
/// and has not landed; the others stay until all bytes have. So does a share of a rail on trial,
/// whose breaker is half-open: its slice is the rail's probe, and no reason to fail a read that
/// other rails can bring.
class RailShare final : public SliceSource {
 public:
  /// `part` of the read is that of the owner that the rail reaches. `region_keys` are the rail's,
  /// by index in the region table, for every region of the plan; empty where the rail needs none.
  /// `verifier` is null when nothing is to be hashed. With `on_trial` the read's may_give_back must
  /// be set.
  RailShare(SharedRead& read, OwnerPart& part, Rail& rail, bool on_trial,
            std::vector<std::uint64_t> region_keys, std::unique_ptr<LandingVerifier> verifier,
            Clock& clock, Duration fence_deadline);

  /// Slices come from the part's dealer, which knows the rail by this number. Before run().
  void deal_as(std::size_t rail) noexcept { dealt_as_ = rail; }

  /// Fails with the rail's first failure, the holder's refusal, or kStuck when not even closing the
  /// rail made it quiescent: only then may something still write, and the destination is to be kept
  /// for ever. Where that is not the engine's to keep (SharedRead::on_stuck), it does not return
  /// instead, until the device has ended all by itself. A share that was stopped ends in success:
  /// the session knows why it stopped. So does one that gave its slices back, see lost().
  Task<Result<void>> run();

  /// On the rail's executor, once SharedRead::stopped is set; also after run() has returned.
  void stop_requested();
  /// On the rail's executor: slices were given back, or the last byte has landed. Likewise.
  void look_again();

  /// Why the share gave its slices back; nothing where it did not.
  const std::optional<Error>& lost() const noexcept { return lost_; }
  std::uint64_t retried_slices() const noexcept { return retried_slices_; }
  std::uint64_t retried_bytes() const noexcept { return retried_bytes_; }

  std::uint64_t landed_bytes() const noexcept { return landed_bytes_; }
  std::uint64_t reads_posted() const noexcept { return reads_posted_; }
  std::uint64_t errors() const noexcept { return errors_; }
  /// Once run() has returned.
  const RailTimes& times() const noexcept { return times_; }
  LandingVerifier* verifier() noexcept { return verifier_.get(); }
  Rail& rail() const noexcept { return rail_; }
  const OwnerPart& part() const noexcept { return part_; }

  std::optional<Slice> next(std::uint64_t max_bytes) noexcept override;
  bool has_more() const noexcept override;
  ReadContext context() const noexcept override { return read_.context; }
  void on_landed(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept override;
  void on_receipt(const Slice& slice, const PushReceipt& receipt) noexcept override;
  void on_outcome(const Slice& slice, Result<void> outcome) noexcept override;
  void on_rail_failed(const Error& why) noexcept override;

 private:
  /// What became of a posted slice so far.
  struct Progress {
    std::uint64_t tag = 0;
    std::uint64_t length = 0;
    std::uint64_t landed = 0;   // as the transport has reported it
    std::uint32_t reposts = 0;  // how often it was posted again
    TimePoint posted{};
  };
  /// Flushed by somebody else's fence: to be posted again.
  struct Flushed {
    Slice slice;
    std::uint32_t reposts = 0;
  };

  static bool is_path_fault(const Error& error) noexcept {
    return error.error_class() == ErrorClass::kTransport;
  }
  bool giving_up() const noexcept;
  bool has_fair_part() const noexcept;
  bool done() const noexcept;
  Task<void> pull();
  void book_times();
  Result<void> conclude();
  bool give_back();
  bool waits_for_grant() const noexcept { return read_.pushed && !granted_; }
  std::vector<std::span<std::byte>> memory_of_owner() const;
  Task<void> open_to_owner();
  Slice next_flushed(std::uint64_t max_bytes) noexcept;
  std::optional<SliceCursor::Cut> take(std::uint64_t max_bytes) noexcept;
  void started(const Slice& slice, std::uint32_t reposts);
  Progress ended(const Slice& slice) noexcept;
  bool post_again(const Slice& slice, std::uint32_t reposts) noexcept;
  void landed(const Slice& slice) noexcept;
  void fail(Error error) noexcept;
  void hash(const Slice& slice, std::uint64_t from, std::uint64_t to) noexcept;
  Task<void> make_quiescent();
  Task<void> wait_for_outcomes(TimePoint until);
  Task<void> wait_for_device();
  StuckMemory stuck_memory() const;

  SharedRead& read_;
  OwnerPart& part_;
  Rail& rail_;
  const bool gives_back_;  // what its path fails to bring
  const std::vector<std::uint64_t> region_keys_;
  const std::unique_ptr<LandingVerifier> verifier_;
  Clock& clock_;
  const Duration fence_deadline_;
  Event changed_;
  std::vector<Flushed> flushed_;
  std::vector<Progress> in_flight_;
  std::vector<LostCut> unlanded_;  // ended without having landed, and not to be posted here again
  std::optional<Error> failure_;
  std::optional<Error> lost_;
  std::optional<Error> stuck_;
  std::uint64_t landed_bytes_ = 0;
  std::uint64_t reads_posted_ = 0;
  std::uint64_t errors_ = 0;
  std::uint64_t retried_slices_ = 0;
  std::uint64_t retried_bytes_ = 0;
  std::size_t dealt_as_ = 0;
  bool running_ = false;
  bool granted_ = false;  // the owner may write: its slices may be posted
  TimePoint began_{};
  std::optional<TimePoint> first_posted_;
  std::optional<TimePoint> gave_up_;
  RailTimes times_;
};

}  // namespace corail
