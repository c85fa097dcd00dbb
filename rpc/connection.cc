#include "rpc/connection.h"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "rpc/codec.h"
#include "rpc/preface.h"

namespace corail {

Connection::Connection(asio::any_io_executor executor, Clock& clock,
                       std::unique_ptr<ByteStream> stream, CallHandler& handler,
                       ConnectionOptions options)
    : executor_(std::move(executor)),
      clock_(clock),
      stream_(std::move(stream)),
      handler_(handler),
      options_(options),
      reader_(*stream_),
      queue_(executor_, *stream_, options_.send),
      calls_(executor_),
      end_event_(executor_),
      timer_(clock_.make_timer(executor_)),
      scope_(executor_) {}

Connection::~Connection() {
  CORAIL_CHECK(closed_, "a connection was destroyed without an awaited close()");
}

Task<Result<void>> Connection::open_as_client(TimePoint deadline) {
  auto preface =
      co_await exchange_preface_as_client(executor_, *stream_, reader_, clock_, deadline);
  co_return opened(std::move(preface));
}

Task<Result<void>> Connection::open_as_server() {
  const TimePoint deadline = clock_.now() + options_.preface_time;
  auto preface =
      co_await exchange_preface_as_server(executor_, *stream_, reader_, clock_, deadline);
  co_return opened(std::move(preface));
}

Result<void> Connection::opened(Result<void> preface) {
  if (ended_) return *ended_;
  if (!preface.ok()) {
    end(preface.error(), Farewell::kNone);
    return preface;
  }
  opened_ = true;
  quiet_since_ = clock_.now();
  scope_.spawn(write_loop());
  scope_.spawn(watch_loop());
  scope_.spawn(read_loop());
  return ok_result();
}

/// Keeps the call in the table for as long as its frame lives, however the frame ends.
class Connection::CallFrame {
 public:
  CallFrame(Connection& connection, PendingCall& call, CallCancel* cancel)
      : connection_(connection), call_(call), cancel_(cancel) {
    connection_.calls_.add(call_);
    if (cancel_ == nullptr) return;
    cancel_->hook_ = [this] {
      connection_.give_up(call_, Error(Errc::kCancelled, "the caller has given up"));
    };
  }
  ~CallFrame() {
    if (cancel_ != nullptr) cancel_->hook_ = nullptr;
    connection_.calls_.remove(call_);
  }
  CallFrame(const CallFrame&) = delete;
  CallFrame& operator=(const CallFrame&) = delete;

 private:
  Connection& connection_;
  PendingCall& call_;
  CallCancel* const cancel_;
};

Task<Result<CallReport>> Connection::call(Method method, FrameBuffer request, AnswerSink& sink,
                                          CallOptions options) {
  const auto may = may_send(method, request.body_bytes(), limits_of(method).request_bytes);
  if (!may.ok()) co_return may.error();
  if (options.cancel != nullptr && options.cancel->fired()) {
    co_return Error(Errc::kCancelled, "the caller has given up");
  }
  if (calls_.waiting() >= options_.max_pending_calls) {
    Error error(Errc::kBusy, fmt::format("{} calls wait for answers already", calls_.waiting()));
    co_return std::move(error).on_peer(peer_name());
  }
  PendingCall call(executor_, sink, method, clock_.now(), options.deadline);
  const CallFrame frame(*this, call, options.cancel);
  request.set_header(FrameKind::kRequest, method, call.id);
  const auto queued = queue_.try_push(std::move(request));
  if (!queued.ok()) {
    if (ended_) co_return *ended_;
    Error error = queued.error();
    co_return std::move(error).on_peer(peer_name());
  }
  if (call.deadline < watching_for_) timer_->cancel();
  co_await call.done.wait();
  if (!call.outcome.ok()) co_return call.outcome.error();
  co_return CallReport{call.answer_bytes};
}

Result<void> Connection::notify(Method method, FrameBuffer body) {
  const auto may = may_send(method, body.body_bytes(), limits_of(method).notify_bytes);
  if (!may.ok()) return may;
  body.set_header(FrameKind::kNotify, method, 0);
  return queue_.try_push(std::move(body));
}

Result<void> Connection::may_send(Method method, std::size_t bytes, std::uint32_t limit) const {
  if (ended_) return *ended_;
  CORAIL_CHECK(opened_, "a connection is used before it is open");
  if (bytes <= limit) return ok_result();
  return Error(Errc::kTooLarge,
               fmt::format("the {} message has {} bytes, more than the {} allowed; "
                           "ask for less at once",
                           limits_of(method).name, bytes, limit))
      .on_peer(peer_name());
}

void Connection::give_up(PendingCall& call, Error error) {
  if (call.ended) return;
  send_control(FrameKind::kCancel, call.method, call.id, FrameBuffer());
  calls_.end(call, std::move(error).on_peer(peer_name()));
}

void Connection::send_control(FrameKind kind, Method method, std::uint64_t id, FrameBuffer frame) {
  frame.set_header(kind, method, id);
  if (queue_.push_control(std::move(frame))) return;
  end(Error(Errc::kConnectionLost,
            "the peer makes us answer but reads nothing; the connection was cut"),
      Farewell::kNone);
}

void Connection::refuse(Error error) {
  if (ended_) return;
  if (!opened_) return end(std::move(error), Farewell::kNone);
  send_control(FrameKind::kError, Method::kNone, 0, encode_error(error));
  end(std::move(error), Farewell::kLinger);
}

void Connection::end(Error error, Farewell farewell) {
  if (ended_) {
    if (farewell == Farewell::kNone) end_stream();
    return;
  }
  ended_ = std::move(error).on_peer(peer_name());
  farewell_until_ = clock_.now() + options_.farewell;
  linger_ = farewell == Farewell::kLinger;
  calls_.end_all(*ended_);
  // A hook may end its handler and so change the table.
  std::vector<std::uint64_t> ids;
  for (const auto& [id, call] : inbound_) ids.push_back(id);
  for (const std::uint64_t id : ids) {
    const auto found = inbound_.find(id);
    if (found != inbound_.end()) found->second->cancel();
  }
  if (farewell == Farewell::kNone) {
    queue_.abort();
    end_stream();
  } else {
    queue_.finish();
  }
  timer_->cancel();
}

void Connection::end_stream() noexcept {
  stream_ended_ = true;
  stream_->close();
}

Task<Error> Connection::wait_ended() {
  while (!read_ended_) {
    co_await end_event_.wait();
  }
  co_return *ended_;
}

void Connection::finish() {
  end(Error(Errc::kConnectionLost, Stage::kClose, "this side has closed the connection"),
      Farewell::kFlush);
  linger_ = false;
  if (queue_.written_out()) end_stream();
}

Task<void> Connection::close() {
  if (closed_) co_return;
  finish();
  co_await scope_.join();
  co_await calls_.wait_idle();
  closed_ = true;
}

}  // namespace corail
