#pragma once

#include <boost/test/unit_test.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/exec/byte_stream.h"
#include "engine/exec/event.h"
#include "engine/exec/memory_stream.h"
#include "rpc/connection.h"
#include "rpc/preface.h"
#include "test/rpc/bytes.h"
#include "test/support/virtual_world.h"

namespace corail::test {

/// What the scripted handler does with each method.
inline constexpr Method kEcho = Method::kQueryBlocksForTransfer;
inline constexpr Method kHold = Method::kReleaseLease;       // answers when let go, or cancelled
inline constexpr Method kFail = Method::kConfirmAndRelease;  // answers with an error
inline constexpr Method kStream = Method::kGetRegions;  // answers in parts: "0", "1", ..., "end"

/// A called side whose behaviour is chosen by the method.
class ScriptedHandler final : public CallHandler {
 public:
  explicit ScriptedHandler(asio::any_io_executor executor) : executor_(std::move(executor)) {}

  Task<Result<FrameBuffer>> serve(InboundCall& call) override {
    ++served;
    const Method method = call.method();
    if (method == kHold) {
      auto answer = co_await hold(call);
      co_return answer;
    }
    if (method == kStream) {
      auto answer = co_await stream(call);
      co_return answer;
    }
    if (method == kFail) co_return Error(Errc::kLeaseExpired, Stage::kConfirm, "it lapsed");
    if (method == Method::kHello) throw std::runtime_error("a handler's own fault");
    co_return frame_of(call.body());
  }
  Result<void> on_notify(Method, std::span<const std::byte> body) override {
    notified.emplace_back(text_of(body));
    if (notified.back() == "bad") return Error(Errc::kProtocol, "a bad notification");
    return ok_result();
  }

  /// Lets the oldest held call go on.
  void let_go() {
    held.front()->notify();
    held.pop_front();
  }

  std::deque<std::shared_ptr<Event>> held;
  std::vector<std::string> notified;
  int served = 0;
  int cancelled = 0;
  int parts = 3;

 private:
  Task<Result<FrameBuffer>> hold(InboundCall& call) {
    const auto event = std::make_shared<Event>(executor_);
    held.push_back(event);
    call.on_cancel([this, event] {
      ++cancelled;
      event->notify();
    });
    co_await event->wait();
    co_return frame_of(call.body());
  }
  Task<Result<FrameBuffer>> stream(InboundCall& call) {
    for (int i = 0; i < parts; ++i) {
      const auto sent = co_await call.send_part(frame_of(std::to_string(i)));
      if (!sent.ok()) co_return sent.error();
    }
    co_return frame_of("end");
  }

  const asio::any_io_executor executor_;
};

/// Collects an answer as text; can be told to refuse it.
class TextSink final : public AnswerSink {
 public:
  Result<void> on_part(std::span<const std::byte> body, bool last) override {
    if (refuse) return Error(Errc::kProtocol, "the sink wants no more");
    parts.emplace_back(text_of(body));
    ended = last;
    return ok_result();
  }
  bool refuse = false;
  bool ended = false;
  std::vector<std::string> parts;
};

/// What one call came to.
struct Called {
  Result<CallReport> result;
  std::vector<std::string> parts;
};

inline Task<Called> call(Connection* connection, Method method, std::string body,
                         CallOptions options, bool refuse_parts) {
  TextSink sink;
  sink.refuse = refuse_parts;
  FrameBuffer request = frame_of(body);
  Called called;
  auto result = co_await connection->call(method, std::move(request), sink, options);
  called.result = std::move(result);
  called.parts = std::move(sink.parts);
  co_return called;
}

inline Task<bool> close(Connection* connection) {
  co_await connection->close();
  co_return true;
}

inline Task<bool> write(ByteStream* stream, Bytes bytes) {
  std::vector<std::span<const std::byte>> buffers;
  buffers.emplace_back(bytes);
  const auto written = co_await stream->write_all(std::move(buffers));
  co_return written.ok();
}

inline Task<Bytes> read_to_end(ByteStream* stream) {
  Bytes all;
  Bytes buffer(1000);
  for (;;) {
    const auto got = co_await stream->read_some(buffer);
    if (!got.ok() || *got == 0) break;
    all.insert(all.end(), buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(*got));
  }
  co_return all;
}

inline Bytes preface_bytes(std::uint32_t version) {
  const Preface preface = make_preface(version);
  return {preface.begin(), preface.end()};
}

/// One connection at the right end of a stream, and whatever a test does at the left end.
struct OneSide {
  explicit OneSide(ConnectionOptions options = {}, MemoryStreamOptions stream_options = {})
      : handler(world.executor()), pair(make_stream_pair(world.executor(), stream_options)) {
    left = std::move(pair.left);
    right = std::make_unique<Connection>(world.executor(), world.clock(), std::move(pair.right),
                                         handler, options);
  }
  ~OneSide() { world.run(close(right.get())); }

  /// The left end as a well-behaved caller would begin: both prefaces are through.
  void open() {
    const auto opened = world.start(right->open_as_server());
    world.run(write(left.get(), preface_bytes(kFramingVersion)));
    Bytes preface(kPrefaceBytes);
    const auto read = world.run(read_exact(*left, preface));
    world.settle();
    BOOST_REQUIRE((read.ok() && opened->has_value() && (*opened)->ok()));
  }
  void send(const Bytes& bytes) {
    const bool written = world.run(write(left.get(), bytes));
    world.settle();
    BOOST_REQUIRE(written);
  }
  /// The next frame from the right.
  std::pair<FrameHeader, std::string> receive() {
    std::array<std::byte, kFrameHeaderBytes> header{};
    BOOST_REQUIRE(world.run(read_exact(*left, header)).ok());
    const auto decoded = decode_header(header);
    BOOST_REQUIRE(decoded.ok());
    Bytes body(decoded->length);
    BOOST_REQUIRE(world.run(read_exact(*left, body)).ok());
    return {*decoded, std::string(text_of(body))};
  }

  VirtualWorld world;
  ScriptedHandler handler;
  MemoryStreamPair pair;
  std::unique_ptr<ByteStream> left;
  std::unique_ptr<Connection> right;
};

/// Two connections, opened.
struct TwoSides {
  explicit TwoSides(ConnectionOptions options = {}, MemoryStreamOptions stream_options = {})
      : client_handler(world.executor()),
        server_handler(world.executor()),
        pair(make_stream_pair(world.executor(), stream_options)) {
    client = std::make_unique<Connection>(world.executor(), world.clock(), std::move(pair.left),
                                          client_handler, options);
    server = std::make_unique<Connection>(world.executor(), world.clock(), std::move(pair.right),
                                          server_handler, options);
    const auto accepted = world.start(server->open_as_server());
    const auto opened = world.run(client->open_as_client(in(std::chrono::seconds(1))));
    BOOST_REQUIRE((opened.ok() && accepted->has_value() && (*accepted)->ok()));
  }
  ~TwoSides() {
    world.run(close(client.get()));
    world.run(close(server.get()));
  }

  TimePoint in(Duration time) const { return world.now() + time; }
  CallOptions within(Duration time) const { return CallOptions{in(time), nullptr}; }

  Called call(Method method, std::string body) {
    return world.run(
        test::call(client.get(), method, std::move(body), within(std::chrono::seconds(10)), false));
  }
  VirtualWorld::Outcome<Called> start(Method method, std::string body, CallOptions options) {
    auto outcome = world.start(test::call(client.get(), method, std::move(body), options, false));
    world.settle();
    return outcome;
  }

  VirtualWorld world;
  ScriptedHandler client_handler;
  ScriptedHandler server_handler;
  MemoryStreamPair pair;
  std::unique_ptr<Connection> client;
  std::unique_ptr<Connection> server;
};

inline bool failed_with(const VirtualWorld::Outcome<Called>& outcome, Errc code) {
  return outcome->has_value() && !(*outcome)->result.ok() &&
         (*outcome)->result.error().code() == code;
}

}  // namespace corail::test
