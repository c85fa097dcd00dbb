// What a put asks of its home.

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/exec/run_on.h"
#include "engine/exec/when_all.h"
#include "engine/object/stripe_checksum.h"
#include "rpc/cancel_bridge.h"
#include "rpc/fetch_context.h"
#include "rpc/put_client.h"
#include "rpc/put_messages.h"
#include "rpc/put_writer.h"

namespace corail {
namespace {

Task<Checksum64> hash_stripe(std::span<const std::byte> stripe) {
  co_return stripe_checksum(stripe);
}

/// A read id that nobody guesses who was not told.
ReadId random_put_read(Random& random) { return ReadId(kFirstPutRead | random.next()); }

}  // namespace

Task<Result<void>> PutWriter::ask_to_begin() {
  PutRequest request;
  request.key = key_;
  request.size = options_.size;
  request.stripe_size = options_.stripe_size;
  request.if_generation = options_.if_generation;
  CallCancel cancel;
  const CancelBridge bridge(context_.home, stop_, cancel);
  CallOptions call;
  call.deadline = deadline_;
  call.cancel = &cancel;
  auto put = co_await call_begin_put(&context_.session, std::move(request), call);
  if (!put) co_return failed_ ? *failed_ : put.error();
  put_ = *put;
  co_return ok_result();
}

Task<void> PutWriter::send(PutSlot slot, std::uint32_t stripe, std::uint64_t length) {
  auto sent = co_await without_exceptions(offer_and_call(slot, stripe, length));
  if (!sent) fail(std::move(sent).error());
  slot.reset();
  --under_way_;
  moved_.notify();
}

Task<Result<void>> PutWriter::offer_and_call(const PutSlot& slot, std::uint32_t stripe,
                                             std::uint64_t length) {
  const std::span<const std::byte> bytes = slot.bytes().first(length);
  const Checksum64 checksum = co_await run_on(context_.hashing, hash_stripe(bytes));
  if (failed_) co_return *failed_;
  PutStripeRequest request;
  request.put = put_;
  request.stripe = stripe;
  request.read = random_put_read(context_.parts.random);
  request.regions = context_.parts.sources.table();
  request.address = reinterpret_cast<std::uint64_t>(bytes.data());
  request.checksum = checksum;
  CallCancel cancel;
  const CancelBridge bridge(context_.home, stop_, cancel);
  CallOptions call;
  call.deadline = deadline_;
  call.cancel = &cancel;
  context_.parts.sources.offer(request.read, slot.offer(length));
  auto pulled = co_await call_put_stripe(&context_.session, request, call);
  context_.parts.sources.withdraw(request.read);
  if (!pulled) co_return std::move(pulled).error().at(Stage::kWait);
  co_return ok_result();
}

Task<Result<ObjectDescriptor>> PutWriter::ask_to_commit() {
  // A cancel that comes now is too late: the home decides, and its answer is the truth.
  CallOptions call;
  call.deadline = deadline_;
  auto committed = co_await call_commit_put(&context_.session, put_, key_, call);
  if (!committed) co_return std::move(committed).error().at(Stage::kConfirm);
  co_return committed;
}

Task<void> PutWriter::tell_home() {
  // What it cannot be told it finds out when the session ends, or nothing comes for long.
  CallOptions call;
  call.deadline = time_after(context_.clock.now(), context_.options.call_deadline);
  [[maybe_unused]] const auto told = co_await call_abort_put(&context_.session, put_, call);
}

}  // namespace corail
