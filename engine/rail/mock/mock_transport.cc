#include "engine/rail/mock/mock_transport.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/post.hpp>
#include <utility>

#include "engine/base/check.h"
#include "engine/exec/sleep.h"

namespace corail {
namespace {

Capabilities capabilities_of(const MockOptions& options) {
  Capabilities capabilities;
  capabilities.max_slice_bytes = options.max_slice_bytes;
  capabilities.max_slices = options.max_slices;
  capabilities.reports_landing = options.reports_landing;
  capabilities.fence_is_local = !options.shared_fence;
  capabilities.pushes = true;
  return capabilities;
}

}  // namespace

MockTransport::MockTransport(asio::any_io_executor executor, Clock& clock, Random& random,
                             MockNet& net, MockOptions options, FaultScript script)
    : executor_(std::move(executor)),
      clock_(clock),
      net_(net),
      options_(options),
      script_(std::move(script)),
      capabilities_(capabilities_of(options_)),
      link_(options_.link, random),
      ops_(options_.max_slices),
      unstuck_(executor_),
      self_(std::make_shared<MockTransport*>(this)),
      agenda_(executor_, clock_, [this](const MockEvent& event) { handle(event); }) {}

MockTransport::~MockTransport() {
  CORAIL_CHECK(closed_ || channel_ == nullptr, "a connected transport is closed before it goes");
  CORAIL_CHECK(ops_.size() == 0, "a transport outlives what was posted on it (I6)");
  *self_ = nullptr;
}

Task<Result<void>> MockTransport::connect(RailEndpoint remote, TimePoint deadline) {
  const TimePoint when = clock_.now() + options_.link.latency;
  const auto timer = clock_.make_timer(executor_);
  co_await sleep_until(*timer, std::min(when, deadline));
  if (when > deadline) {
    co_return Error(Errc::kDeadline, Stage::kConnect,
                    "the modelled link did not connect in time; check its latency");
  }
  if (closed_) co_return Error(Errc::kClosed, Stage::kConnect, "the rail was closed");
  if (script_.find(FaultKind::kNoConnect) != nullptr) {
    co_return Error(Errc::kConnectFailed, Stage::kConnect, "the modelled link is down (scripted)");
  }
  auto channel = net_.connect(remote);
  if (!channel) co_return std::move(channel).error().at(Stage::kConnect);
  channel_ = std::move(*channel);
  courier_ = remote.courier;
  watch_channel();
  co_return ok_result();
}

void MockTransport::watch_channel() {
  const auto shut = [executor = executor_, self = self_] {
    asio::post(executor, [self] {
      if (*self == nullptr || (*self)->dead_) return;
      (*self)->die(Error(Errc::kConnectionLost, Stage::kWait,
                         "the holder has closed the channel; check that it runs"));
    });
  };
  const auto offered = [executor = executor_, self = self_](std::uint64_t number) {
    asio::post(executor, [self, number] {
      if (*self != nullptr) (*self)->offered(number);
    });
  };
  channel_->tell_requester(shut, offered);
}

void MockTransport::post(ReadContext context, std::span<const Slice> slices, SliceSink& sink) {
  const TimePoint now = clock_.now();
  for (const Slice& slice : slices) {
    const MockOp op(context, slice, sink, counters_.posted++, now + options_.link.latency);
    const auto key = ops_.insert(op);
    CORAIL_CHECK(key, "more slices were posted than the capabilities allow");
    if (!usable()) {
      agenda_.add(now, MockEvent(MockEvent::Kind::kReject, *key));
    } else if (slice.pushed) {
      order(*key, *ops_.find(*key));
    } else {
      agenda_.add(now + options_.link.latency / 2, MockEvent(MockEvent::Kind::kAdmit, *key));
    }
  }
}

Task<Result<void>> MockTransport::fence(SliceSink& sink, TimePoint deadline) {
  ++counters_.fences;
  bool anything = false;
  ops_.for_each([&](OpKey, MockOp& op) {
    if (op.sink != &sink && !options_.shared_fence) return;
    op.fenced = true;
    anything = true;
  });
  if (!anything) co_return ok_result();
  // The device answers after a round trip; what is on the wire lands meanwhile.
  const bool stuck = script_.find(FaultKind::kStuckFence) != nullptr;
  const TimePoint answer = clock_.now() + options_.link.latency;
  const auto timer = clock_.make_timer(executor_);
  const TimePoint until = stuck ? deadline : std::min(answer, deadline);
  co_await sleep_until(*timer, until);
  if ((stuck || answer > deadline) && !closed_) {
    co_return Error(Errc::kStuck, Stage::kWait,
                    "the modelled device did not answer a fence; the rail has to be closed");
  }
  if (script_.weak_fence) let_one_through(sink);
  for (const OpKey key : keys_of([](const MockOp& op) { return op.fenced; })) {
    finish(key, Error(Errc::kFlushed, Stage::kWait, "given up by a fence"));
  }
  co_return ok_result();
}

Task<void> MockTransport::close() {
  if (script_.find(FaultKind::kStuckClose) != nullptr && !closed_) co_await unstuck_.wait();
  if (std::exchange(closed_, true)) co_return;
  dead_ = true;
  finish_all(Error(Errc::kFlushed, Stage::kClose, "the rail was closed"));
  agenda_.clear();
  if (channel_ == nullptr) co_return;
  channel_->forget_requester();
  channel_->shut();
}

void MockTransport::unstick() { unstuck_.notify(); }

std::vector<OpKey> MockTransport::keys_of(bool (*wanted)(const MockOp&)) {
  std::vector<OpKey> keys;
  ops_.for_each([&](OpKey key, MockOp& op) {
    if (wanted(op)) keys.push_back(key);
  });
  return keys;
}

void MockTransport::finish(OpKey key, Result<void> outcome) {
  const MockOp* op = ops_.find(key);
  if (op == nullptr) return;
  const Slice slice = op->slice;
  SliceSink& sink = *op->sink;
  if (op->order != 0) {
    channel_->end_push(op->order, Error(Errc::kCancelled, Stage::kServe, "the slice has ended"));
    ordered_.erase(op->order);
  } else if (channel_) {
    channel_->end(key.packed());
  }
  ops_.erase(key);
  // Last: the sink may post again.
  sink.on_outcome(slice, std::move(outcome));
}

void MockTransport::finish_all(const Error& error) {
  for (const OpKey key : keys_of([](const MockOp&) { return true; })) finish(key, error);
}

void MockTransport::die(const Error& error) {
  dead_ = true;
  finish_all(error);
  if (lost_ && !closed_) lost_(error);
}

}  // namespace corail
