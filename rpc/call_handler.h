#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "rpc/frame.h"

namespace corail {

class SendQueue;

/// One request of the peer while it is being answered. Owned by the connection, on its executor;
/// outlives the coroutine that serves it.
class InboundCall {
 public:
  InboundCall(SendQueue& queue, Method method, std::uint64_t id, std::vector<std::byte> body)
      : queue_(queue), method_(method), id_(id), body_(std::move(body)) {}
  InboundCall(const InboundCall&) = delete;
  InboundCall& operator=(const InboundCall&) = delete;

  Method method() const noexcept { return method_; }
  std::uint64_t id() const noexcept { return id_; }
  /// Hostile until checked (I5).
  std::span<const std::byte> body() const noexcept { return body_; }

  /// Whether the caller has given up or is gone: what is still answered goes nowhere.
  bool cancelled() const noexcept { return cancelled_; }
  /// Calls `hook` when that happens, at once if it has. At most one hook; nullptr takes it back.
  void on_cancel(std::function<void()> hook);
  /// For the connection.
  void cancel();

  /// Sends a part of the answer, to be followed by others or by the end that the handler returns.
  /// Waits for room in the send queue. Fails with kCancelled once cancelled().
  Task<Result<void>> send_part(FrameBuffer part);

 private:
  SendQueue& queue_;
  const Method method_;
  const std::uint64_t id_;
  const std::vector<std::byte> body_;
  bool cancelled_ = false;
  std::function<void()> hook_;
};

/// The side that is called. Owned by whoever owns the connection and outlives it; members are
/// called on the connection's executor and never after its close() has returned.
class CallHandler {
 public:
  virtual ~CallHandler() = default;

  /// Answers one request; several run at once. What is returned is the answer's end, or the error
  /// that the caller gets.
  virtual Task<Result<FrameBuffer>> serve(InboundCall& call) = 0;

  /// A notification of the peer. The body is valid during this call only, and hostile.
  virtual Result<void> on_notify(Method method, std::span<const std::byte> body) = 0;
};

}  // namespace corail
