#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <deque>
#include <vector>

#include "engine/base/result.h"
#include "engine/exec/byte_stream.h"
#include "engine/exec/credits.h"
#include "engine/exec/suspension.h"
#include "engine/exec/task.h"
#include "rpc/frame.h"

namespace corail {

struct SendLimits {
  /// Bytes that may wait to be sent, bookkeeping included. A frame larger than this is refused.
  std::uint64_t max_bytes = 2 * std::uint64_t{kMaxFrameBytes};
  /// Coroutines that may wait for room.
  std::size_t max_waiters = 1024;
  /// Control frames (refusals, pongs, cancels) that may wait beside that budget. More of them means
  /// that the peer makes us answer and does not read.
  std::size_t max_control_frames = 4096;
};

/// Frames on their way out, in order, with a bounded backlog (I8). A frame that finds the queue
/// empty is written before push returns, as far as the socket takes it.
///
/// Owned by the connection, on its executor. run() must have returned before it is destroyed.
class SendQueue {
 public:
  SendQueue(const asio::any_io_executor& executor, ByteStream& stream, SendLimits limits);

  /// Queues the frame or fails at once: kBusy when the backlog is full, kTooLarge for a frame that
  /// never fits, kClosed after finish() or abort().
  Result<void> try_push(FrameBuffer frame);
  /// The same, but waits for room.
  Task<Result<void>> push(FrameBuffer frame);
  /// For short control frames: never waits. False when even their reserve is used up.
  bool push_control(FrameBuffer frame);

  /// The writer: returns a success after finish(), when all is written, or the stream's error.
  Task<Result<void>> run();

  /// Nothing more can be pushed; run() writes what is queued and returns.
  void finish();
  /// Nothing more can be pushed, what is queued is dropped, and run() returns once its write ends.
  void abort();

  /// Whether somebody waits for room.
  bool congested() const noexcept { return credits_.waiting() > 0; }
  bool written_out() const noexcept { return ended_ && !running_; }

 private:
  struct Queued {
    FrameBuffer frame;
    std::uint64_t cost = 0;  // of the byte budget; 0 for control frames
  };

  void add(FrameBuffer frame, std::uint64_t cost);
  void forget(const Queued& queued);
  std::uint64_t cost_of(const FrameBuffer& frame) const noexcept;

  ByteStream& stream_;
  const SendLimits limits_;
  Credits credits_;
  Suspension writer_;
  std::deque<Queued> queue_;
  std::size_t control_frames_ = 0;
  bool ended_ = false;
  bool running_ = false;
};

}  // namespace corail
