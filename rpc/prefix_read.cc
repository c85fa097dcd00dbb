#include "rpc/prefix_read.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "engine/base/checksum.h"
#include "engine/read/read_session.h"
#include "rpc/cancel_bridge.h"
#include "rpc/leased_read.h"
#include "rpc/read_memory.h"

namespace corail {

PrefixRead::PrefixRead(FetchContext context, PrefixLease& lease, const FetchOptions& options,
                       TimePoint callers_deadline)
    : context_(context), lease_(lease), options_(options), callers_deadline_(callers_deadline) {}

PrefixRead::PrefixRead(FetchContext context, PrefixLease& lease, const FetchOptions& options,
                       TimePoint callers_deadline, LaneRange lanes, EpochNumber epoch)
    : context_(context),
      lease_(lease),
      options_(options),
      callers_deadline_(callers_deadline),
      lanes_(lanes),
      epoch_(epoch) {}

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
Task<Result<BlockView>> PrefixRead::run(ReadReport report) {
  report_ = std::move(report);
  auto step = plan();
  if (step && options_.integrity == Integrity::kXxh3) step = co_await expect();
  if (step) step = co_await allocate();
  if (step) step = co_await read();
  if (!step) co_return std::move(step).error();
  const TimePoint begin = context_.clock.now();
  BlockView view(std::move(plan_), std::move(chunks_), std::move(report_));
  view.report().stages.seal = context_.clock.now() - begin;
  co_return view;
}
#pragma GCC diagnostic pop

std::uint64_t PrefixRead::max_slice_bytes() const noexcept {
  return std::min(context_.options.max_read_bytes, context_.rails.max_slice_bytes());
}

Result<void> PrefixRead::plan() {
  const TimePoint begin = context_.clock.now();
  PlanLimits limits;
  limits.max_read_bytes = max_slice_bytes();
  limits.max_total_bytes = context_.options.destination_bytes;
  const QueryAnswer& answer = lease_.answer();
  const RegionTable& regions = lease_.regions();
  auto planned = answer.encoding == AnswerEncoding::kParts
                     ? plan_block_read(answer.parts, lease_.layout(), answer.block_count, regions,
                                       limits, lanes_)
                     : plan_block_read(answer.runs, lease_.layout(), answer.block_count, regions,
                                       limits, lanes_);
  if (!planned) return std::move(planned).error().at(Stage::kPlan);
  plan_ = std::make_shared<const BlockPlan>(std::move(*planned));
  report_.stages.plan = context_.clock.now() - begin;
  return ok_result();
}

Task<Result<void>> PrefixRead::expect() {
  const TimePoint begin = context_.clock.now();
  const LaneRange lanes = plan_->lane_range();
  if (lanes == LaneRange{0, plan_->layout().lanes()}) {
    expectation_ = expect_blocks(lease_.keys().name_space, lease_.keys().hashes,
                                 lease_.layout()->id(), lease_.answer().checksums);
    report_.stages.plan += context_.clock.now() - begin;
    co_return ok_result();
  }
  CallOptions call;
  call.deadline = std::min({callers_deadline_, lease_.usable_until(),
                            time_after(begin, context_.options.call_deadline)});
  call.cancel = &cancel_sums_;
  const CancelBridge bridge(context_.home, options_.cancel, cancel_sums_);
  auto sums =
      co_await context_.session.lane_sums(lease_.read(), lanes, lease_.answer().block_count, call);
  report_.stages.query += context_.clock.now() - begin;
  if (!sums) co_return std::move(sums).error().at(Stage::kQuery);
  co_return expect_sums(std::move(*sums));
}

Result<void> PrefixRead::expect_sums(LaneSums told) {
  // The identity is the requester's own: what was leased by mistake has another checksum.
  const BlockExpectation whole = expect_blocks(lease_.keys().name_space, lease_.keys().hashes,
                                               lease_.layout()->id(), lease_.answer().checksums);
  for (std::size_t i = 0; i < told.sums.size(); ++i) {
    const std::uint64_t all = told.sums[i] + told.rests[i];
    if (block_checksum(all, whole.identities[i]).value() == whole.checksums[i]) continue;
    return Error(Errc::kChecksumMismatch, Stage::kQuery,
                 fmt::format("what the holder says of the lanes of the block at position {} does "
                             "not add up to that block's checksum; check the holder's memory",
                             i));
  }
  expectation_.emplace();
  expectation_->lane_sums = std::move(told.sums);
  return ok_result();
}

Task<Result<void>> PrefixRead::allocate() {
  const TimePoint begin = context_.clock.now();
  auto chunks =
      co_await allocate_chunks(context_, plan_->chunks(), options_.cancel, callers_deadline_);
  if (!chunks) co_return std::move(chunks).error().at(Stage::kPlan);
  chunks_ = std::move(*chunks);
  report_.stages.plan += context_.clock.now() - begin;
  co_return ok_result();
}

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
Task<Result<void>> PrefixRead::read() {
  ReadRequest request;
  request.read = lease_.read();
  request.plan = plan_;
  request.chunks = chunks_;
  take_rails(request, context_.rails, &lease_.regions());
  request.max_slice_bytes = max_slice_bytes();
  request.shares_lease = epoch_.has_value();
  if (epoch_) request.epoch = *epoch_;
  request.expectation = std::move(expectation_);
  request.deadline = std::min(callers_deadline_, lease_.usable_until());
  request.fence_deadline = context_.options.fence_deadline;
  request.cancel = options_.cancel;
  request.retry_on_survivors = options_.retry_on_survivors;
  request.copy_on_commit = options_.copy_on_commit;
  ReadSession session(context_.home, context_.clock, context_.session, std::move(request));
  const PrefixLease::Listener listener(lease_, [this, &session](TimePoint usable_until) {
    session.extend(std::min(callers_deadline_, usable_until));
  });
  auto result = co_await session.run(report_);
  lease_given_back_ = !epoch_;
  co_return blame_lease(std::move(result), lease_.usable_until(), callers_deadline_);
}
#pragma GCC diagnostic pop

}  // namespace corail
