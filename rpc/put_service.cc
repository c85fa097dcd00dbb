#include "rpc/put_service.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/exec/when_all.h"
#include "engine/object/descriptor_check.h"
#include "engine/object/placement.h"
#include "rpc/connected_peer.h"
#include "rpc/fetch_context.h"
#include "rpc/object_codec.h"
#include "rpc/put_codec.h"
#include "rpc/session.h"

namespace corail {
namespace {

/// Stripes that one writer has pulled at a time, and that wait for their turn (I8).
constexpr std::uint64_t kMaxPulls = 8;
constexpr std::size_t kMaxWaitingPulls = 256;
/// Open puts of one writer (I8). Those that the store has given up count until they are ended.
constexpr std::size_t kMaxPuts = 256;

Error no_such_put(ObjectGeneration put) {
  return Error(Errc::kNotFound, Stage::kServe,
               fmt::format("this session has no open put of generation {}: it was committed or "
                           "aborted, or nothing was written to it for too long",
                           put.value()));
}

}  // namespace

struct PutService::Put {
  Put(const asio::any_io_executor& home, ObjectGeneration put, const PutRequest& request)
      : generation(put), size(request.size), stripe_size(request.stripe_size), idle(home) {}

  const ObjectGeneration generation;
  const std::uint64_t size;
  const std::uint64_t stripe_size;
  std::set<Pulling*> pulling;  // stripes under way
  bool ending = false;         // being committed or aborted: nothing else is taken
  Event idle;                  // no stripe is under way
};

/// A stripe that can be given up, by its caller or with its put, however its frame ends.
class PutService::Pulling {
 public:
  Pulling(PutService& service, std::shared_ptr<Put> put, InboundCall& call, ReadId read)
      : service_(service), put_(std::move(put)), call_(call), read_(read) {
    service_.reads_.insert(read_);
    put_->pulling.insert(this);
    call_.on_cancel([token = token_]() mutable { token.cancel(); });
  }
  ~Pulling() {
    call_.on_cancel(nullptr);
    put_->pulling.erase(this);
    service_.reads_.erase(read_);
    if (put_->pulling.empty()) put_->idle.notify();
  }
  Pulling(const Pulling&) = delete;
  Pulling& operator=(const Pulling&) = delete;

  CancelToken& token() noexcept { return token_; }

 private:
  PutService& service_;
  const std::shared_ptr<Put> put_;
  InboundCall& call_;
  const ReadId read_;
  CancelToken token_;
};

PutService::PutService(PutHome& home, Session& session)
    : home_(home),
      session_(session),
      pulls_(home.home, kMaxPulls, kMaxWaitingPulls),
      reverse_turn_(home.home, 1, kMaxPulls) {}

PutService::~PutService() { CORAIL_CHECK(ended_, "puts are ended with their session"); }

Task<Result<FrameBuffer>> PutService::serve(InboundCall& call) {
  switch (call.method()) {
    case Method::kBeginPut: {
      auto answer = co_await begin(call);
      co_return answer;
    }
    case Method::kPutStripe: {
      auto answer = co_await put_stripe(call);
      co_return answer;
    }
    case Method::kCommitPut: {
      auto answer = co_await commit(call.body());
      co_return answer;
    }
    default: {
      auto answer = co_await abort(call.body());
      co_return answer;
    }
  }
}

Task<Result<FrameBuffer>> PutService::begin(InboundCall& call) {
  const auto asked = decode_begin_put(call.body());
  if (!asked.ok()) co_return asked.error();
  if (puts_.size() + beginning_ >= kMaxPuts) {
    co_return Error(
        Errc::kQuotaExceeded, Stage::kServe,
        fmt::format("{} puts of this session are open; commit or abort some", kMaxPuts));
  }
  PutRequest request = *asked;
  ++beginning_;
  const auto put = co_await home_.store.begin_put(std::move(request));
  --beginning_;
  if (!put) co_return put.error();
  if (call.cancelled()) {
    // Nobody knows its name who could end it.
    [[maybe_unused]] const auto aborted = co_await home_.store.abort_put(*put);
    co_return Error(Errc::kCancelled, Stage::kServe, "the writer has given up");
  }
  puts_.emplace(*put, std::make_shared<Put>(home_.home, *put, *asked));
  co_return encode_begin_put_answer(*put);
}

Result<std::shared_ptr<PutService::Put>> PutService::find(ObjectGeneration put) const {
  const auto found = puts_.find(put);
  if (found == puts_.end()) return no_such_put(put);
  if (!found->second->ending) return found->second;
  return Error(Errc::kBusy, Stage::kServe, "the put is being committed, or aborted");
}

Task<Result<FrameBuffer>> PutService::put_stripe(InboundCall& call) {
  const auto asked = decode_put_stripe(call.body());
  if (!asked.ok()) co_return asked.error();
  const auto put = find(asked->put);
  if (!put.ok()) co_return put.error();
  const std::uint64_t stripes = stripes_of((*put)->size, (*put)->stripe_size);
  if (asked->stripe >= stripes) {
    co_return Error(
        Errc::kInvalidArgument, Stage::kServe,
        fmt::format("there is no stripe {}, the object has {}", asked->stripe, stripes));
  }
  if (reads_.count(asked->read) > 0) {
    co_return Error(Errc::kInvalidArgument, Stage::kServe,
                    "the read id is in use; every stripe that is offered has one of its own");
  }
  Pulling pulling(*this, *put, call, asked->read);
  const CancelToken token = pulling.token();
  auto staged = co_await without_exceptions(stage(*asked, *put, token));
  if (!staged) co_return std::move(staged).error();
  co_return FrameBuffer();
}

Task<Result<void>> PutService::stage(const PutStripeRequest& request, std::shared_ptr<Put> put,
                                     CancelToken cancel) {
  const std::uint64_t length = stripe_length(put->size, put->stripe_size, request.stripe);
  const TimePoint deadline = time_after(home_.clock.now(), home_.pull_time);
  // The session's turn comes first: what waits for it holds nothing of the node's budget, so that
  // one writer leaves room to the others.
  auto turn = co_await pulls_.acquire(1);
  if (!turn) co_return std::move(turn).error();
  auto share = co_await home_.budget->admit(length, WhenFull::kWait, deadline, cancel);
  if (!share) {
    pulls_.release(1);
    co_return std::move(share).error();
  }
  auto pulled = co_await without_exceptions(pull(request, length, deadline, cancel));
  pulls_.release(1);
  if (!pulled) co_return std::move(pulled).error();
  std::uint64_t offset = 0;
  for (const SlabChunk& chunk : pulled->chunks) {
    const std::span<const std::byte> bytes = chunk.bytes();
    auto written = co_await home_.store.write(put->generation, request.stripe, offset, bytes);
    if (!written) co_return std::move(written).error();
    offset += bytes.size();
  }
  co_return ok_result();
}

Task<Result<PulledStripe>> PutService::pull(const PutStripeRequest& request, std::uint64_t length,
                                            TimePoint deadline, CancelToken cancel) {
  const auto peer = co_await reverse();
  if (!peer) co_return peer.error();
  auto pulled = co_await (*peer)->pull_stripe(request, length, deadline, std::move(cancel));
  co_return pulled;
}

Task<Result<std::shared_ptr<ConnectedPeer>>> PutService::reverse() {
  auto turn = co_await reverse_turn_.acquire(1);
  if (!turn) co_return std::move(turn).error();
  auto peer = co_await without_exceptions(home_.reverse.over(session_.shared_from_this()));
  reverse_turn_.release(1);
  co_return peer;
}

Task<Result<FrameBuffer>> PutService::commit(std::span<const std::byte> body) {
  const auto asked = decode_end_put(Method::kCommitPut, body);
  if (!asked.ok()) co_return asked.error();
  const auto found = find(*asked);
  if (!found.ok()) co_return found.error();
  const std::shared_ptr<Put> put = *found;
  if (!put->pulling.empty()) {
    co_return Error(Errc::kInvalidArgument, Stage::kServe,
                    fmt::format("{} stripes are still on their way; wait for their answers",
                                put->pulling.size()));
  }
  put->ending = true;
  const auto committed = co_await home_.store.commit_put(put->generation);
  // The store's word on whether the put is over; what it keeps open may be completed.
  const bool open = !committed && (committed.error().code() == Errc::kByteCountMismatch ||
                                   committed.error().code() == Errc::kInvalidArgument);
  put->ending = false;
  if (!open) puts_.erase(put->generation);
  if (!committed) co_return committed.error();
  co_return encode_descriptor((*committed)->object);
}

Task<Result<FrameBuffer>> PutService::abort(std::span<const std::byte> body) {
  const auto asked = decode_end_put(Method::kAbortPut, body);
  if (!asked.ok()) co_return asked.error();
  const auto found = find(*asked);
  if (!found.ok()) co_return found.error();
  const std::shared_ptr<Put> put = *found;
  put->ending = true;
  for (Pulling* const pulling : put->pulling) pulling->token().cancel();
  while (!put->pulling.empty()) {
    co_await put->idle.wait();
  }
  [[maybe_unused]] const auto aborted = co_await home_.store.abort_put(put->generation);
  puts_.erase(put->generation);
  co_return FrameBuffer();
}

void PutService::stop() {
  for (const auto& [generation, put] : puts_) {
    put->ending = true;
    for (Pulling* const pulling : put->pulling) pulling->token().cancel();
  }
}

Task<void> PutService::end() {
  const auto left = std::exchange(puts_, {});
  for (const auto& [generation, put] : left) {
    [[maybe_unused]] const auto aborted = co_await home_.store.abort_put(generation);
  }
  home_.reverse.let_go(session_);
  ended_ = true;
}

}  // namespace corail
