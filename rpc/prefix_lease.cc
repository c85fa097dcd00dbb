#include "rpc/prefix_lease.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "rpc/cancel_bridge.h"
#include "rpc/codec.h"

namespace corail {

PrefixLease::PrefixLease(FetchContext context, ReadId read, std::shared_ptr<const Layout> layout,
                         std::shared_ptr<const BlockKeys> keys)
    : context_(context), read_(read), layout_(std::move(layout)), keys_(std::move(keys)) {}

Result<void> PrefixLease::check_arguments(const FetchOptions& options) const {
  if (!layout_ || !keys_) {
    return Error(Errc::kInvalidArgument, Stage::kQuery, "a fetch needs a layout and keys");
  }
  if (options.deadline <= Duration::zero()) {
    return Error(Errc::kInvalidArgument, Stage::kQuery, "the deadline of a fetch must be positive");
  }
  if (options.wait_for_blocks < Duration::zero() || options.wait_for_blocks > kMaxQueryWait) {
    return Error(Errc::kInvalidArgument, Stage::kQuery,
                 fmt::format("a fetch may wait for blocks up to {} s",
                             kMaxQueryWait / std::chrono::seconds(1)));
  }
  auto checked = check_query(read_, *keys_);
  if (!checked || !options.copy_on_commit) return checked;
  // A layout's block and the number of keys are bounded so that this does not overflow.
  const std::uint64_t needed = keys_->hashes.size() * layout_->block_bytes();
  if (options.copy_on_commit->size() >= needed) return ok_result();
  return Error(Errc::kInvalidArgument, Stage::kQuery,
               fmt::format("the memory for the copy has {} bytes, but {} blocks of this layout may "
                           "come, which need {}; give more, or ask for fewer blocks",
                           options.copy_on_commit->size(), keys_->hashes.size(), needed));
}

Task<Result<void>> PrefixLease::query(const FetchOptions& options, TimePoint deadline,
                                      ReadReport& report) {
  const TimePoint sent = context_.clock.now();
  TransferQuery query;
  query.read = read_;
  query.keys = keys_;
  query.layout = layout_;
  // The lease counts from sending, whatever the holder says about when it answered. It is asked for
  // that much longer, so that the wait eats nothing of it.
  query.ttl = context_.options.lease_ttl + options.wait_for_blocks;
  query.wait = options.wait_for_blocks;
  query.encoding = options.encoding;
  CallOptions call;
  call.deadline =
      std::min(deadline, sent + context_.options.call_deadline + options.wait_for_blocks);
  call.cancel = &cancel_query_;
  const CancelBridge bridge(context_.home, options.cancel, cancel_query_);
  auto answer = co_await context_.session.query(std::move(query), call);
  report.stages.query = context_.clock.now() - sent;
  if (!answer) co_return std::move(answer).error().at(Stage::kQuery);
  answer_ = std::move(answer->blocks);
  regions_ = std::move(answer->regions);
  report.query_response_bytes = answer->answer_bytes;
  report.run_table_bytes = answer->run_table_bytes;
  report.runs = answer_.runs.runs() + answer_.parts.runs();
  if (answer_.block_count == 0) {
    co_return Error(Errc::kNotFound, Stage::kQuery,
                    "the holder has not even the first block of the prefix");
  }
  // Counted from sending, not from the answer: the holder counts from before it answered.
  usable_until_ = sent + answer_.ttl - context_.options.lease_margin;
  co_return ok_result();
}

void PrefixLease::keep() {
  LeaseKeeper::Lease lease;
  lease.read = read_;
  lease.ends = usable_until_;
  lease.ttl = context_.options.lease_ttl;
  lease.margin = context_.options.lease_margin;
  keeper_.emplace(context_.home, context_.clock, context_.session, lease, [this](TimePoint ends) {
    usable_until_ = ends;
    for (const auto& extended : listeners_) extended(ends);
  });
  keeper_->start();
}

Task<void> PrefixLease::stop_keeping() {
  if (!keeper_) co_return;
  co_await keeper_->stop();
  // Its timer goes on home, whoever lets go of the lease itself.
  keeper_.reset();
}

Task<void> PrefixLease::release() {
  const TimePoint until = context_.clock.now() + context_.options.fence_deadline;
  [[maybe_unused]] const auto released = co_await context_.session.release(read_, until);
}

PrefixLease::Listener::Listener(PrefixLease& lease, std::function<void(TimePoint)> extended)
    : lease_(lease), entry_(lease.listeners_.insert(lease.listeners_.end(), std::move(extended))) {}

PrefixLease::Listener::~Listener() { lease_.listeners_.erase(entry_); }

}  // namespace corail
