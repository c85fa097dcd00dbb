#pragma once

#include <asio/any_io_executor.hpp>
#include <memory>

#include "engine/base/clock.h"
#include "engine/exec/byte_stream.h"

namespace corail {

/// Closes a stream at a deadline, which is how its operations are stopped. Lives in the frame that
/// uses the stream; once destroyed it does nothing more, even if its timer has just expired.
class StreamDeadline {
 public:
  StreamDeadline(const asio::any_io_executor& executor, Clock& clock, ByteStream& stream,
                 TimePoint deadline)
      : state_(std::make_shared<State>(&stream)), timer_(clock.make_timer(executor)) {
    timer_->wait_until(deadline, [state = state_](bool expired) {
      if (!expired || state->stream == nullptr) return;
      state->expired = true;
      state->stream->close();
    });
  }
  ~StreamDeadline() { state_->stream = nullptr; }
  StreamDeadline(const StreamDeadline&) = delete;
  StreamDeadline& operator=(const StreamDeadline&) = delete;

  bool expired() const noexcept { return state_->expired; }

 private:
  struct State {
    explicit State(ByteStream* s) : stream(s) {}
    ByteStream* stream;
    bool expired = false;
  };

  std::shared_ptr<State> state_;
  std::unique_ptr<Timer> timer_;
};

}  // namespace corail
