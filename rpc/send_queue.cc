#include "rpc/send_queue.h"

#include <fmt/core.h>

#include <span>
#include <utility>

#include "engine/base/check.h"

namespace corail {
namespace {

/// What a queued frame costs beside its bytes; it bounds the number of small frames as well.
constexpr std::uint64_t kBookkeepingBytes = 256;
/// Frames that go out in one system call when several wait.
constexpr std::size_t kMaxGather = 16;

Error closed_error() { return Error(Errc::kClosed, "the connection sends nothing more"); }

}  // namespace

SendQueue::SendQueue(const asio::any_io_executor& executor, ByteStream& stream, SendLimits limits)
    : stream_(stream),
      limits_(limits),
      credits_(executor, limits.max_bytes, limits.max_waiters),
      writer_(executor) {}

std::uint64_t SendQueue::cost_of(const FrameBuffer& frame) const noexcept {
  return frame.bytes().size() + kBookkeepingBytes;
}

Result<void> SendQueue::try_push(FrameBuffer frame) {
  if (ended_) return closed_error();
  const std::uint64_t cost = cost_of(frame);
  if (cost > limits_.max_bytes) {
    return Error(Errc::kTooLarge,
                 fmt::format("a frame of {} bytes does not fit into the send queue "
                             "of {} bytes",
                             frame.bytes().size(), limits_.max_bytes));
  }
  if (!credits_.try_acquire(cost)) {
    return Error(Errc::kBusy,
                 fmt::format("the connection's send queue is full ({} bytes); the peer "
                             "reads too slowly",
                             limits_.max_bytes));
  }
  add(std::move(frame), cost);
  return ok_result();
}

Task<Result<void>> SendQueue::push(FrameBuffer frame) {
  const std::uint64_t cost = cost_of(frame);
  const bool room_now = credits_.waiting() == 0 && credits_.available() >= cost;
  if (ended_ || cost > limits_.max_bytes || room_now) co_return try_push(std::move(frame));
  const auto room = co_await credits_.acquire(cost);
  if (!room.ok()) co_return room.error();
  if (ended_) co_return closed_error();
  add(std::move(frame), cost);
  co_return ok_result();
}

bool SendQueue::push_control(FrameBuffer frame) {
  if (ended_) return true;
  if (control_frames_ >= limits_.max_control_frames) return false;
  ++control_frames_;
  add(std::move(frame), 0);
  return true;
}

void SendQueue::add(FrameBuffer frame, std::uint64_t cost) {
  Queued queued;
  queued.frame = std::move(frame);
  queued.cost = cost;
  queue_.push_back(std::move(queued));
  // Inline, so that the first system call happens before the pusher goes on.
  writer_.resume_inline();
}

Task<Result<void>> SendQueue::run() {
  CORAIL_CHECK(!running_, "a send queue has one writer");
  running_ = true;
  std::vector<Queued> batch;
  Result<void> outcome = ok_result();
  while (outcome.ok()) {
    while (queue_.empty() && !ended_) {
      co_await writer_.suspend();
    }
    if (queue_.empty()) break;
    std::vector<std::span<const std::byte>> buffers;
    while (!queue_.empty() && batch.size() < kMaxGather) {
      batch.push_back(std::move(queue_.front()));
      queue_.pop_front();
      buffers.push_back(batch.back().frame.bytes());
    }
    auto written = co_await stream_.write_all(std::move(buffers));
    outcome = std::move(written);
    for (const Queued& queued : std::exchange(batch, {})) forget(queued);
  }
  running_ = false;
  if (!outcome.ok()) abort();
  co_return outcome;
}

void SendQueue::forget(const Queued& queued) {
  if (queued.cost == 0) {
    --control_frames_;
  } else {
    credits_.release(queued.cost);
  }
}

void SendQueue::finish() {
  ended_ = true;
  credits_.close(closed_error());
  writer_.resume_inline();
}

void SendQueue::abort() {
  for (const Queued& queued : std::exchange(queue_, {})) forget(queued);
  finish();
}

}  // namespace corail
