#include "rpc/block_fetch.h"

#include <asio/post.hpp>
#include <exception>
#include <utility>

#include "engine/exec/when_all.h"
#include "engine/plan/block_plan.h"
#include "engine/read/read_session.h"
#include "rpc/codec.h"
#include "rpc/lease_keeper.h"
#include "rpc/rail_keys.h"

namespace corail {
namespace {

/// A caller may ask for all the time there is.
TimePoint after(TimePoint now, Duration time) {
  return time > TimePoint::max() - now ? TimePoint::max() : now + time;
}

}  // namespace

BlockFetch::BlockFetch(FetchContext context, ReadId read, std::shared_ptr<const Layout> layout,
                       std::shared_ptr<const BlockKeys> keys, FetchOptions options)
    : context_(context),
      read_(read),
      layout_(std::move(layout)),
      keys_(std::move(keys)),
      options_(std::move(options)),
      callers_deadline_(after(context_.clock.now(), options_.deadline)) {}

Task<Result<BlockView>> BlockFetch::run() {
  auto step = check_arguments();
  if (!step) co_return std::move(step).error();
  // The sizes of what is allocated below come from the holder: running out of memory is an outcome.
  step = co_await without_exceptions(query_and_read());
  // Also after a query that failed: its answer may still be on the way, and the lease with it.
  if (!step && !given_back_) co_await release();
  if (!step) co_return std::move(step).error();
  const TimePoint begin = context_.clock.now();
  BlockView view(std::move(plan_), std::move(chunks_), std::move(report_));
  view.report().stages.seal = context_.clock.now() - begin;
  co_return view;
}

Task<Result<void>> BlockFetch::query_and_read() {
  auto step = co_await query();
  if (step) step = plan();
  if (step) step = allocate();
  if (!step) co_return step;
  step = co_await read();
  co_return step;
}

Result<void> BlockFetch::check_arguments() const {
  if (!layout_ || !keys_) {
    return Error(Errc::kInvalidArgument, Stage::kQuery, "a fetch needs a layout and keys");
  }
  if (options_.deadline <= Duration::zero()) {
    return Error(Errc::kInvalidArgument, Stage::kQuery, "the deadline of a fetch must be positive");
  }
  // Before anything is sent: what was never asked for needs no release either.
  return check_query(read_, *keys_);
}

Task<Result<void>> BlockFetch::query() {
  const TimePoint sent = context_.clock.now();
  TransferQuery query;
  query.read = read_;
  query.keys = keys_;
  query.layout = layout_;
  query.ttl = context_.options.lease_ttl;
  query.encoding = options_.encoding;
  CallOptions call;
  call.deadline = std::min(callers_deadline_, sent + context_.options.call_deadline);
  call.cancel = &cancel_query_;
  // The token is pulled on any thread; the flag makes a cancel that comes late find nobody.
  const auto canceller = std::make_shared<CallCancel*>(&cancel_query_);
  const auto subscription = options_.cancel.subscribe([home = context_.home, canceller] {
    asio::post(home, [canceller] {
      if (*canceller != nullptr) (*canceller)->fire();
    });
  });
  auto answer = co_await context_.session.query(std::move(query), call);
  *canceller = nullptr;
  report_.stages.query = context_.clock.now() - sent;
  if (!answer) co_return std::move(answer).error().at(Stage::kQuery);
  answer_ = std::move(answer->blocks);
  regions_ = std::move(answer->regions);
  report_.query_response_bytes = answer->answer_bytes;
  report_.run_table_bytes = answer->run_table_bytes;
  report_.runs = answer_.runs.runs() + answer_.parts.runs();
  if (answer_.block_count == 0) {
    co_return Error(Errc::kNotFound, Stage::kQuery,
                    "the holder has not even the first block of the prefix");
  }
  // Counted from sending, not from the answer: the holder counts from before it answered.
  usable_until_ = sent + answer_.ttl - context_.options.lease_margin;
  co_return ok_result();
}

std::uint64_t BlockFetch::max_slice_bytes() const noexcept {
  return std::min(context_.options.max_read_bytes, context_.rails.max_slice_bytes());
}

Result<void> BlockFetch::plan() {
  const TimePoint begin = context_.clock.now();
  PlanLimits limits;
  limits.max_read_bytes = max_slice_bytes();
  limits.max_total_bytes = context_.options.destination_bytes;
  const RegionTable& regions = *regions_;
  auto planned = answer_.encoding == AnswerEncoding::kParts
                     ? plan_block_read(answer_.parts, layout_, answer_.block_count, regions, limits)
                     : plan_block_read(answer_.runs, layout_, answer_.block_count, regions, limits);
  if (!planned) return std::move(planned).error().at(Stage::kPlan);
  plan_ = std::make_shared<const BlockPlan>(std::move(*planned));
  report_.stages.plan = context_.clock.now() - begin;
  return ok_result();
}

Result<void> BlockFetch::allocate() {
  const TimePoint begin = context_.clock.now();
  chunks_.reserve(plan_->chunks().size());
  for (const ChunkSpec& spec : plan_->chunks()) {
    auto chunk = context_.memory.allocate(spec.bytes, spec.numa_node);
    if (!chunk) return std::move(chunk).error().at(Stage::kPlan);
    chunks_.push_back(std::move(*chunk));
  }
  report_.stages.plan += context_.clock.now() - begin;
  return ok_result();
}

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
Task<Result<void>> BlockFetch::read() {
  ReadRequest request;
  request.read = read_;
  request.plan = plan_;
  request.chunks = chunks_;
  for (const auto& rail : context_.rails.rails()) request.rails.push_back(rail.get());
  request.region_keys = keys_of_rails(context_.rails, *regions_);
  request.max_slice_bytes = max_slice_bytes();
  if (options_.integrity == Integrity::kXxh3) {
    const TimePoint begin = context_.clock.now();
    request.expectation = expect_blocks(keys_->name_space, keys_->hashes, layout_->id(),
                                        std::move(answer_.checksums));
    report_.stages.plan += context_.clock.now() - begin;
  }
  request.deadline = std::min(callers_deadline_, usable_until_);
  request.fence_deadline = context_.options.fence_deadline;
  request.cancel = options_.cancel;
  request.retry_on_survivors = options_.retry_on_survivors;
  ReadSession session(context_.home, context_.clock, context_.session, std::move(request));
  LeaseKeeper::Lease lease;
  lease.read = read_;
  lease.ends = usable_until_;
  lease.ttl = context_.options.lease_ttl;
  lease.margin = context_.options.lease_margin;
  LeaseKeeper keeper(
      context_.home, context_.clock, context_.session, lease,
      [this, &session](TimePoint ends) { session.extend(std::min(callers_deadline_, ends)); });
  keeper.start();
  Result<void> result;
  std::exception_ptr thrown;
  try {
    result = co_await session.run(report_);
  } catch (...) {
    // Memory that the holder's answer sized was not there: the keeper ends all the same.
    thrown = std::current_exception();
  }
  co_await keeper.stop();
  if (thrown) std::rethrow_exception(thrown);
  given_back_ = true;
  co_return result;
}
#pragma GCC diagnostic pop

Task<void> BlockFetch::release() {
  const TimePoint until = context_.clock.now() + context_.options.fence_deadline;
  [[maybe_unused]] const auto released = co_await context_.session.release(read_, until);
}

}  // namespace corail
