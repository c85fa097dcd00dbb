#include "rpc/object_read.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "engine/base/region_table.h"
#include "engine/exec/run_on.h"
#include "engine/exec/when_all.h"
#include "engine/plan/push_source.h"
#include "engine/read/read_session.h"
#include "rpc/cancel_bridge.h"
#include "rpc/leased_read.h"
#include "rpc/object_destination.h"
#include "rpc/read_memory.h"
#include "rpc/stuck_report.h"

namespace corail {
namespace {

/// Empties a hook when it goes.
class Forgetting {
 public:
  explicit Forgetting(std::function<void(TimePoint)>& hook) : hook_(hook) {}
  ~Forgetting() { hook_ = nullptr; }
  Forgetting(const Forgetting&) = delete;
  Forgetting& operator=(const Forgetting&) = delete;

 private:
  std::function<void(TimePoint)>& hook_;
};

Task<void> copy_view(const ObjectView* view, std::span<std::byte> to) {
  view->copy(to);
  co_return;
}

}  // namespace

ObjectRead::ObjectRead(FetchContext context, ReadId read,
                       std::shared_ptr<const ObjectDescriptor> object, ReadObjectOptions options)
    : context_(context),
      read_(read),
      object_(std::move(object)),
      options_(std::move(options)),
      callers_deadline_(time_after(context_.clock.now(), options_.deadline)),
      admission_(context_.budgets, context_.rails) {}

Task<Result<ObjectView>> ObjectRead::run() {
  auto want = want_of(*object_, context_.session.holder().node, options_);
  if (!want) co_return std::move(want).error();
  want_ = std::move(*want);
  auto step = choose_destination();
  if (!step) co_return std::move(step).error();
  auto scheduler = make_schedule(options_.scheduler);
  if (!scheduler) co_return std::move(scheduler).error();
  if ((*scheduler)->name() != kLeastLoaded) scheduler_ = std::move(*scheduler);
  auto entered = co_await enter();
  // Nothing was asked for yet, so there is nothing to give back.
  if (!entered) co_return std::move(entered).error();
  // The sizes of what is allocated come from the owner: running out of memory is an outcome.
  auto view = co_await without_exceptions(open_and_read());
  // Also after an open that failed: its answer may still be on the way, and the lease with it.
  if (!view && !given_back_) co_await release();
  co_return view;
}

/// Before anything is sent, so that the memory stays registered for as long as the read may need
/// it.
Result<void> ObjectRead::choose_destination() {
  if (options_.destination.empty()) return ok_result();
  if (options_.copy_on_commit) {
    return Error(Errc::kInvalidArgument, Stage::kPlan,
                 "a read lands in memory of the caller's own, or copies into it, not both");
  }
  auto chunks = land_in(options_.destination, *object_, context_.landings, want_);
  if (!chunks) return std::move(chunks).error();
  chunks_ = std::move(*chunks);
  return ok_result();
}

Task<Result<void>> ObjectRead::enter() {
  const TimePoint begin = context_.clock.now();
  auto entered = co_await admission_.enter(want_.read_bytes, options_.when_full, callers_deadline_,
                                           options_.cancel);
  report_.stages.admit = context_.clock.now() - begin;
  co_return entered;
}

Task<Result<ObjectView>> ObjectRead::open_and_read() {
  auto step = co_await open();
  if (step) step = choose_mode();
  if (!step) co_return std::move(step).error();
  keep();
  step = co_await without_exceptions(read_leased());
  co_await keeper_->stop();
  // Its timer goes on home, whoever lets go of the read itself.
  keeper_.reset();
  if (!step) co_return std::move(step).error();
  const TimePoint begin = context_.clock.now();
  ObjectView view(object_, plan_, std::move(chunks_), want_.asked);
  if (options_.copy_on_commit && !want_.exact()) co_await copy(view);
  report_.stages.seal = context_.clock.now() - begin - report_.stages.copy;
  view.report() = std::move(report_);
  co_return std::move(view);
}

Task<Result<void>> ObjectRead::open() {
  const TimePoint sent = context_.clock.now();
  OpenObjectRequest request;
  request.read = read_;
  request.key = object_->key;
  request.generation = object_->generation;
  request.snapshot = options_.consistency == ObjectConsistency::kSnapshot;
  request.ttl = context_.options.lease_ttl;
  request.want_addresses = options_.mode != ObjectMode::kPush;
  request.granules_of = want_.granules_of;
  CallOptions call;
  call.deadline = std::min(callers_deadline_, sent + context_.options.call_deadline);
  call.cancel = &cancel_open_;
  const CancelBridge bridge(context_.home, options_.cancel, cancel_open_);
  ObjectClient client(context_.session);
  auto opened =
      co_await client.open(std::move(request), want_.stripes.size(), want_.granules, call);
  report_.stages.query = context_.clock.now() - sent;
  if (!opened) co_return std::move(opened).error().at(Stage::kQuery);
  open_ = std::move(*opened);
  // Counted from sending: the owner counts from before it answered.
  usable_until_ = sent + open_.answer.ttl - context_.options.lease_margin;
  co_return ok_result();
}

Result<void> ObjectRead::choose_mode() {
  const bool in_memory = open_.answer.in_memory;
  pushed_ =
      options_.mode == ObjectMode::kPush || (options_.mode == ObjectMode::kAuto && !in_memory);
  if (pushed_ || in_memory) return ok_result();
  return Error(Errc::kRefused, Stage::kQuery,
               "the owner has the object on disks, which nobody else can read from; let it push");
}

void ObjectRead::keep() {
  LeaseKeeper::Lease lease;
  lease.read = read_;
  lease.ends = usable_until_;
  lease.ttl = context_.options.lease_ttl;
  lease.margin = context_.options.lease_margin;
  keeper_.emplace(context_.home, context_.clock, context_.session, lease, [this](TimePoint ends) {
    usable_until_ = ends;
    if (extended_) extended_(ends);
  });
  keeper_->start();
}

Task<Result<void>> ObjectRead::read_leased() {
  if (want_.read_bytes == 0) {
    auto confirmed = co_await confirm_nothing();
    co_return confirmed;
  }
  auto step = plan();
  if (step) step = co_await allocate();
  if (step) step = co_await read();
  co_return step;
}

/// Of an empty object there is nothing to read, but whether it is still there.
Task<Result<void>> ObjectRead::confirm_nothing() {
  const TimePoint begin = context_.clock.now();
  auto confirmed = co_await context_.session.confirm_and_release(
      read_, std::min(callers_deadline_, usable_until_), options_.cancel);
  report_.stages.commit = context_.clock.now() - begin;
  given_back_ = confirmed.ok();
  co_return confirmed;
}

std::uint64_t ObjectRead::max_slice_bytes() const noexcept {
  const std::uint64_t most =
      std::min(context_.options.max_read_bytes, context_.rails.max_slice_bytes());
  return pushed_ ? std::min(most, open_.answer.most_pushed) : most;
}

Result<void> ObjectRead::plan() {
  const TimePoint begin = context_.clock.now();
  PlanLimits limits;
  limits.max_read_bytes = max_slice_bytes();
  // What the caller has memory for needs none of the engine's.
  limits.max_total_bytes =
      options_.destination.empty() ? context_.options.destination_bytes : want_.read_bytes;
  RegionTable whole;
  StripeSource source;
  if (pushed_) {
    auto region = pushed_region(*object_);
    if (!region) return std::move(region).error().at(Stage::kPlan);
    whole = std::move(*region);
    source = pushed_stripes(*object_, want_.node, whole);
  } else {
    source.node = want_.node;
    source.regions = open_.regions.get();
    source.stripes.reserve(want_.stripes.size());
    for (std::size_t i = 0; i < want_.stripes.size(); ++i) {
      source.stripes.push_back({want_.stripes[i], open_.answer.addresses[i]});
    }
  }
  auto planned = plan_object_read(object_, {&source, 1}, want_.demand, limits);
  if (!planned) return std::move(planned).error().at(Stage::kPlan);
  plan_ = std::make_shared<const ObjectPlan>(std::move(*planned));
  report_.stages.plan = context_.clock.now() - begin;
  return ok_result();
}

Task<Result<void>> ObjectRead::allocate() {
  if (!options_.destination.empty()) co_return ok_result();
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
Task<Result<void>> ObjectRead::read() {
  ReadRequest request;
  request.read = read_;
  request.plan = plan_;
  request.chunks = chunks_;
  request.pushed = pushed_;
  take_rails(request, context_.rails, pushed_ ? nullptr : open_.regions.get());
  request.max_slice_bytes = max_slice_bytes();
  request.scheduler = scheduler_;
  if (options_.integrity == Integrity::kXxh3) {
    request.expectation = expectation_of(*object_, want_, open_.answer.granules);
  }
  request.deadline = std::min(callers_deadline_, usable_until_);
  request.fence_deadline = context_.options.fence_deadline;
  request.cancel = options_.cancel;
  request.retry_on_survivors = options_.retry_on_survivors;
  // The plan copies what it reads; ranges of other borders are copied by copy().
  if (want_.exact()) request.copy_on_commit = options_.copy_on_commit;
  request.on_stuck = [&options = context_.options](const StuckMemory& stuck) {
    report_stuck(options, stuck);
  };
  ReadSession session(context_.home, context_.clock, context_.session, std::move(request));
  extended_ = [this, &session](TimePoint usable_until) {
    session.extend(std::min(callers_deadline_, usable_until));
  };
  // Also where the session throws: it goes with this frame, before the lease is no longer renewed.
  const Forgetting forgetting(extended_);
  auto result = co_await session.run(report_);
  given_back_ = true;
  co_return blame_lease(std::move(result), usable_until_, callers_deadline_);
}
#pragma GCC diagnostic pop

/// Off home, which keeps the control connections alive. What the read came to is decided, so this
/// is not given up (contract 2).
Task<void> ObjectRead::copy(ObjectView& view) {
  const TimePoint begin = context_.clock.now();
  co_await run_on(context_.mapping, copy_view(&view, *options_.copy_on_commit));
  report_.stages.copy = context_.clock.now() - begin;
}

Task<void> ObjectRead::release() {
  const TimePoint until = context_.clock.now() + context_.options.fence_deadline;
  [[maybe_unused]] const auto released = co_await context_.session.release(read_, until);
}

}  // namespace corail
