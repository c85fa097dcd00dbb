#include "rpc/leased_blocks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "engine/exec/when_all.h"
#include "rpc/fetch_admission.h"
#include "rpc/prefix_read.h"

namespace corail {
namespace {

/// Callers that wait for a lease to close are bounded by being there: each waits in a frame of its
/// own.
constexpr std::size_t kMaxClosers = std::numeric_limits<std::size_t>::max();

std::uint64_t bytes_of(const Layout& layout, LaneRange lanes) {
  const std::uint32_t end = std::min(lanes.end, layout.lanes());
  std::uint64_t bytes = 0;
  for (std::uint32_t lane = lanes.begin; lane < end; ++lane) bytes += layout.lane_bytes()[lane];
  return bytes;
}

}  // namespace

LeasedBlocks::LeasedBlocks(FetchContext context, ReadId read, std::shared_ptr<const Layout> layout,
                           std::shared_ptr<const BlockKeys> keys)
    : context_(context),
      lease_(context_, read, std::move(layout), std::move(keys)),
      idle_(context_.home),
      closing_turn_(context_.home, 1, kMaxClosers) {}

Result<void> LeasedBlocks::may_open(const FetchOptions& options) const {
  auto checked = lease_.check_arguments(options);
  if (!checked || context_.session.knows_lane_ranges()) return checked;
  return Error(Errc::kIncompatible, Stage::kQuery,
               "the holder's release cannot serve parts of the lanes; fetch the blocks as a whole, "
               "or update the holder");
}

Task<Result<void>> LeasedBlocks::open(FetchOptions options) {
  closing_ = true;
  closed_ = true;
  auto step = may_open(options);
  if (!step) co_return std::move(step).error();
  const TimePoint deadline = time_after(context_.clock.now(), options.deadline);
  step = co_await without_exceptions(lease_.query(options, deadline, query_report_));
  if (!step) {
    // Its answer may still be on the way, and the lease with it.
    co_await lease_.release();
    co_return std::move(step).error();
  }
  lease_.keep();
  closing_ = false;
  closed_ = false;
  co_return ok_result();
}

Result<void> LeasedBlocks::may_read(const FetchOptions& options) const {
  if (closing_) return Error(Errc::kClosed, Stage::kSubmit, "the lease is closed, or being closed");
  if (options.deadline <= Duration::zero()) {
    return Error(Errc::kInvalidArgument, Stage::kSubmit, "the deadline of a read must be positive");
  }
  if (context_.clock.now() >= lease_.usable_until()) {
    return Error(Errc::kLeaseExpired, Stage::kSubmit,
                 fmt::format("the lease of read {} was not renewed in time; ask for the blocks "
                             "again, and look at the control connection to the holder",
                             lease_.read().value()));
  }
  if (running_ < kMaxReadsOfALease) return ok_result();
  return Error(
      Errc::kBusy, Stage::kSubmit,
      fmt::format("{} reads run under this lease, which is the most; wait for some", running_));
}

Task<Result<BlockView>> LeasedBlocks::read(LaneRange lanes, FetchOptions options) {
  const EpochNumber epoch(next_epoch_);
  // The one in between is where a cancel of this read takes it.
  next_epoch_ += 2;
  auto allowed = may_read(options);
  if (!allowed) co_return std::move(allowed).error();
  const TimePoint deadline = time_after(context_.clock.now(), options.deadline);
  ++running_;
  auto view = co_await without_exceptions(admitted_read(lanes, epoch, options, deadline));
  if (--running_ == 0) idle_.notify();
  co_return view;
}

Task<Result<BlockView>> LeasedBlocks::admitted_read(LaneRange lanes, EpochNumber epoch,
                                                    const FetchOptions& options,
                                                    TimePoint deadline) {
  ReadReport report;
  FetchAdmission admission(context_.budgets, context_.rails);
  const TimePoint begin = context_.clock.now();
  // A lane range that is none fails in the plan; it needs no room.
  const std::uint64_t bytes = lease_.answer().block_count * bytes_of(*lease_.layout(), lanes);
  auto entered = co_await admission.enter(
      bytes, options.when_full, std::min(deadline, lease_.usable_until()), options.cancel);
  report.stages.admit = context_.clock.now() - begin;
  if (!entered) co_return std::move(entered).error();
  PrefixRead read(context_, lease_, options, deadline, lanes, epoch);
  auto view = co_await read.run(std::move(report));
  co_return view;
}

Task<void> LeasedBlocks::close(bool tell_holder) {
  closing_ = true;
  const auto turn = co_await closing_turn_.acquire(1);
  if (!turn) co_return;
  if (!closed_) {
    while (running_ > 0) {
      co_await idle_.wait();
    }
    co_await lease_.stop_keeping();
    if (tell_holder) co_await lease_.release();
    closed_ = true;
  }
  closing_turn_.release(1);
}

}  // namespace corail
