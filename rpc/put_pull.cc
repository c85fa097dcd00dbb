#include "rpc/put_pull.h"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/object/placement.h"
#include "engine/read/owner.h"
#include "engine/read/read_session.h"
#include "rpc/cancel_bridge.h"
#include "rpc/leased_read.h"
#include "rpc/read_memory.h"

namespace corail {
namespace {

/// The writer of a put, as the owner of what it offers. Its lease is the call that asked for the
/// stripe: while that is under way the writer keeps the bytes as they are, and giving the call up
/// cancels the read. So there is nothing to ask, and the end of the call is the release.
class StripeWriter final : public Owner {
 public:
  Task<Result<void>> confirm_and_release(ReadId read, TimePoint deadline,
                                         CancelToken cancel) override {
    auto confirmed = co_await confirm(read, deadline, std::move(cancel));
    co_return confirmed;
  }
  Task<Result<void>> confirm(ReadId /*read*/, TimePoint /*deadline*/, CancelToken cancel) override {
    if (!cancel.cancelled()) co_return ok_result();
    co_return Error(Errc::kCancelled, Stage::kConfirm, "the writer has given the stripe up");
  }
  Task<Result<void>> release(ReadId /*read*/, TimePoint /*deadline*/) override {
    co_return ok_result();
  }
};

}  // namespace

PutPull::PutPull(FetchContext context, const PutStripeRequest& request, std::uint64_t length,
                 TimePoint deadline, CancelToken cancel)
    : context_(context),
      request_(request),
      length_(length),
      deadline_(deadline),
      cancel_(std::move(cancel)) {}

Task<Result<PulledStripe>> PutPull::run() {
  auto step = co_await know_regions();
  if (step) step = plan();
  if (step) step = co_await allocate();
  if (step) step = co_await read();
  if (!step) co_return std::move(step).error();
  co_return std::move(pulled_);
}

Task<Result<void>> PutPull::know_regions() {
  CallCancel give_up;
  const CancelBridge bridge(context_.home, cancel_, give_up);
  CallOptions call;
  call.deadline =
      std::min(deadline_, time_after(context_.clock.now(), context_.options.call_deadline));
  call.cancel = &give_up;
  auto known = co_await context_.session.regions_since(request_.regions, call);
  if (!known) co_return std::move(known).error();
  regions_ = std::move(*known);
  co_return ok_result();
}

Result<void> PutPull::plan() {
  // The stripe by itself is an object of one stripe, whose only owner is the writer.
  auto object = std::make_shared<ObjectDescriptor>();
  object->key = "a stripe of a put";
  object->size = length_;
  object->generation = request_.put;
  object->stripe_size = granules_of(length_) * kGranuleBytes;
  object->nodes.push_back({context_.session.holder().node, {context_.session.peer_name()}});
  object->chunks.push_back({0, 0, 0, length_, request_.checksum});
  StripeSource source;
  source.regions = regions_.get();
  source.stripes.push_back({0, request_.address});
  PlanLimits limits;
  limits.max_read_bytes =
      std::min(context_.options.max_read_bytes, context_.rails.max_slice_bytes());
  limits.max_total_bytes = context_.options.destination_bytes;
  const std::span<const StripeSource> sources(&source, 1);
  auto planned = plan_object_read(object, sources, ObjectDemand::whole(length_), limits);
  if (!planned) return std::move(planned).error().at(Stage::kPlan);
  pulled_.plan = std::make_shared<const ObjectPlan>(std::move(*planned));
  return ok_result();
}

Task<Result<void>> PutPull::allocate() {
  auto chunks = co_await allocate_chunks(context_, pulled_.plan->chunks(), cancel_, deadline_);
  if (!chunks) co_return std::move(chunks).error().at(Stage::kPlan);
  pulled_.chunks = std::move(*chunks);
  co_return ok_result();
}

// GCC 12 takes Asio's pair of sized delete and unsized new for a mismatch once both are inlined: PR
// 109224.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
Task<Result<void>> PutPull::read() {
  ReadRequest request;
  request.read = request_.read;
  request.plan = pulled_.plan;
  request.chunks = pulled_.chunks;
  take_rails(request, context_.rails, regions_.get());
  request.max_slice_bytes = pulled_.plan->max_read_bytes();
  request.expectation = ObjectExpectation();
  request.deadline = deadline_;
  request.fence_deadline = context_.options.fence_deadline;
  request.cancel = cancel_;
  request.retry_on_survivors = true;
  StripeWriter writer;
  ReadSession session(context_.home, context_.clock, writer, std::move(request));
  ReadReport report;
  auto result = co_await session.run(report);
  co_return result;
}
#pragma GCC diagnostic pop

}  // namespace corail
