#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "engine/base/clock.h"
#include "engine/base/result.h"

namespace corail {

/// Receives the answer of one call, part by part, on the connection's executor and straight from
/// its read buffer. Lives in the caller's frame until the call has returned.
class AnswerSink {
 public:
  virtual ~AnswerSink() = default;

  /// The bytes are valid during this call only, and hostile until checked (I5). A failure gives the
  /// call up and becomes its outcome. Must not close or destroy the connection.
  virtual Result<void> on_part(std::span<const std::byte> body, bool last) = 0;
};

/// Gives calls up from outside. Used on the connection's executor; outlives the call it was given
/// to; one call at a time, any number of them after each other.
class CallCancel {
 public:
  /// Ends the running call, and every later one at its start, with kCancelled. The peer is told.
  void fire() {
    fired_ = true;
    if (hook_) std::exchange(hook_, nullptr)();
  }
  bool fired() const noexcept { return fired_; }

 private:
  friend class Connection;
  bool fired_ = false;
  std::function<void()> hook_;
};

struct CallOptions {
  TimePoint deadline;            // for the whole answer
  CallCancel* cancel = nullptr;  // may be null
};

/// What a call that succeeded has cost.
struct CallReport {
  std::uint64_t answer_bytes = 0;  // on the wire, frame headers included
};

}  // namespace corail
