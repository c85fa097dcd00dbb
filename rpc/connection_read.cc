// The reading half of a connection: frames in, calls answered, requests served.
#include <fmt/core.h>

#include <exception>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "rpc/codec.h"
#include "rpc/connection.h"

namespace corail {
namespace {

/// The answer as a frame, or an error that says why it cannot be one.
Result<FrameBuffer> fitting(Result<FrameBuffer> answer, Method method) {
  const MethodLimits limits = limits_of(method);
  if (!answer.ok() || answer->body_bytes() <= limits.answer_bytes) return answer;
  return Error(Errc::kTooLarge, Stage::kServe,
               fmt::format("the answer to {} has {} bytes, more than the {} allowed; ask for less "
                           "at once",
                           limits.name, answer->body_bytes(), limits.answer_bytes));
}

}  // namespace

Task<void> Connection::read_loop() {
  Result<void> alive = ok_result();
  while (alive.ok()) {
    auto next = co_await read_frame();
    alive = std::move(next);
  }
  Error why = std::move(alive).error();
  // A failed write is the peer's doing as a rule, and what it said before tells more.
  if (write_failed_ && why.code() == Errc::kClosed) why = *write_failed_;
  read_ended_ = true;
  end(std::move(why), Farewell::kNone);
  end_stream();
  timer_->cancel();
  end_event_.notify();
}

Task<Result<void>> Connection::read_frame() {
  auto have = co_await buffer(kFrameHeaderBytes);
  if (!have.ok()) co_return have;
  if (ended_) {
    // Only the end of the stream is waited for; what comes until then is nobody's any more.
    reader_.consume(reader_.buffered().size());
    co_return ok_result();
  }
  const auto header = decode_header(reader_.buffered().first<kFrameHeaderBytes>());
  if (!header.ok()) {
    refuse(header.error());
    co_return ok_result();
  }
  reader_.consume(kFrameHeaderBytes);
  if (header->length > BufferedReader::kCapacity) {
    auto large = co_await read_large(*header);
    co_return large;
  }
  auto body = co_await buffer(header->length);
  // An end that came meanwhile leaves the frame incomplete.
  if (!body.ok() || ended_) co_return body;
  dispatch(*header, reader_.buffered().first(header->length));
  reader_.consume(header->length);
  co_return ok_result();
}

Task<Result<void>> Connection::read_large(FrameHeader header) {
  // decode_header has held the length against the method's limit (I5).
  const auto bytes = std::make_unique_for_overwrite<std::byte[]>(header.length);
  std::size_t got = 0;
  while (got < header.length) {
    const std::span<std::byte> rest(bytes.get() + got, header.length - got);
    const auto more = co_await reader_.read_into(rest);
    auto alive = heard(more);
    if (!alive.ok()) co_return alive;
    got += *more;
  }
  dispatch(header, {bytes.get(), header.length});
  co_return ok_result();
}

Task<Result<void>> Connection::buffer(std::size_t wanted) {
  while (reader_.buffered().size() < wanted) {
    const auto more = co_await reader_.fill();
    auto alive = heard(more);
    if (!alive.ok()) co_return alive;
    // While lingering the rest of a frame need not come.
    if (ended_) break;
  }
  co_return ok_result();
}

Result<void> Connection::heard(const Result<std::size_t>& got) {
  if (!got.ok()) return got.error();
  if (*got == 0) {
    return Error(Errc::kConnectionLost,
                 "the peer has closed the connection; look for its reason in the peer's log");
  }
  quiet_since_ = clock_.now();
  pings_ = 0;
  return ok_result();
}

void Connection::dispatch(const FrameHeader& header, std::span<const std::byte> body) {
  if (ended_) return;
  switch (header.kind) {
    case FrameKind::kRequest:
      return on_request(header, body);
    case FrameKind::kAnswerPart:
    case FrameKind::kAnswerEnd:
      return on_answer(header, body);
    case FrameKind::kError:
      return on_error(header, body);
    case FrameKind::kCancel: {
      const auto found = inbound_.find(header.id);
      if (found != inbound_.end()) found->second->cancel();
      return;
    }
    case FrameKind::kNotify: {
      auto understood = handler_.on_notify(header.method, body);
      if (!understood.ok()) refuse(std::move(understood).error());
      return;
    }
    case FrameKind::kPing:
      return send_control(FrameKind::kPong, Method::kNone, header.id, FrameBuffer());
    case FrameKind::kPong:
      return;
  }
}

void Connection::on_request(const FrameHeader& header, std::span<const std::byte> body) {
  if (header.id <= last_inbound_) {
    return refuse(Error(Errc::kProtocol,
                        fmt::format("the peer numbered a call {} after {}; numbers must grow",
                                    header.id, last_inbound_)));
  }
  last_inbound_ = header.id;
  // A peer that asks on while it reads no answers would otherwise fill memory with them.
  if (inbound_.size() >= options_.max_inbound_calls || queue_.congested()) {
    const Error busy(
        Errc::kBusy, Stage::kServe,
        fmt::format("{} calls of this connection are being served already{}", inbound_.size(),
                    queue_.congested() ? ", and their answers are not read" : ""));
    return send_control(FrameKind::kError, header.method, header.id, encode_error(busy));
  }
  auto call = std::make_unique<InboundCall>(queue_, header.method, header.id,
                                            std::vector<std::byte>(body.begin(), body.end()));
  inbound_.emplace(header.id, call.get());
  scope_.spawn(serve(std::move(call)));
}

Task<void> Connection::serve(std::unique_ptr<InboundCall> call) {
  Result<FrameBuffer> answer;
  try {
    auto served = co_await handler_.serve(*call);
    answer = fitting(std::move(served), call->method());
  } catch (const std::bad_alloc&) {
    answer = Error(Errc::kOutOfMemory, Stage::kServe, "no memory is left to serve the call");
  } catch (const std::exception& exception) {
    answer = Error(Errc::kRefused, Stage::kServe,
                   fmt::format("serving the call failed: {}", exception.what()));
  }
  if (answer.ok() && !call->cancelled()) {
    answer->set_header(FrameKind::kAnswerEnd, call->method(), call->id());
    const auto sent = co_await queue_.push(std::move(*answer));
    if (!sent.ok()) answer = sent.error();
  }
  inbound_.erase(call->id());
  if (!answer.ok() && !call->cancelled()) {
    send_control(FrameKind::kError, call->method(), call->id(), encode_error(answer.error()));
  }
}

void Connection::on_answer(const FrameHeader& header, std::span<const std::byte> body) {
  PendingCall* const call = calls_.find(header.id);
  if (call == nullptr) {
    // Answers to calls that were given up are on their way for a while.
    if (calls_.issued(header.id)) return;
    return refuse(Error(Errc::kProtocol,
                        fmt::format("the peer answered call {}, which was never made", header.id)));
  }
  if (header.method != call->method) {
    return refuse(Error(Errc::kProtocol,
                        fmt::format("the peer answered call {} ({}) as if it were {}", header.id,
                                    limits_of(call->method).name, limits_of(header.method).name)));
  }
  call->answer_bytes += kFrameHeaderBytes + body.size();
  const bool last = header.kind == FrameKind::kAnswerEnd;
  auto taken = call->sink.on_part(body, last);
  if (!taken.ok() && !last) return give_up(*call, std::move(taken).error());
  if (!taken.ok()) taken = std::move(taken).error().on_peer(peer_name());
  if (!taken.ok() || last) calls_.end(*call, std::move(taken));
}

void Connection::on_error(const FrameHeader& header, std::span<const std::byte> body) {
  Error error = decode_error(body).on_peer(peer_name());
  if (header.id == 0) {
    if (error.code() == Errc::kClosed) {
      error = Error(Errc::kConnectionLost, error.stage(), error.detail());
    }
    return end(std::move(error), Farewell::kNone);
  }
  PendingCall* const call = calls_.find(header.id);
  if (call != nullptr) calls_.end(*call, std::move(error));
}

}  // namespace corail
