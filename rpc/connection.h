#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/byte_stream.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "rpc/buffered_reader.h"
#include "rpc/call.h"
#include "rpc/call_handler.h"
#include "rpc/call_table.h"
#include "rpc/frame.h"
#include "rpc/send_queue.h"

namespace corail {

/// The bounds of one connection (I8), and how it finds out that its peer is dead.
struct ConnectionOptions {
  std::uint32_t max_pending_calls = 1024;  // of ours, unanswered; more fail with kBusy
  std::uint32_t max_inbound_calls = 256;  // of the peer, being served; more are answered with kBusy
  SendLimits send;
  Duration keep_alive = std::chrono::seconds(5);     // of silence until a ping
  std::uint32_t keep_alive_misses = 3;               // silent intervals until the peer is dead
  Duration farewell = std::chrono::seconds(1);       // for the last words when closing
  Duration preface_time = std::chrono::seconds(10);  // for an accepted peer to say its protocol
};

/// One control connection: calls in both directions, multiplexed by id over a byte stream.
///
/// Owned by a session, used on one executor only. One coroutine reads, one writes, one watches the
/// time; each request of the peer is a coroutine of its own. All are joined by close(), which must
/// have been awaited before destruction, whether opening succeeded or not.
class Connection {
 public:
  /// `clock` and `handler` outlive the connection.
  Connection(asio::any_io_executor executor, Clock& clock, std::unique_ptr<ByteStream> stream,
             CallHandler& handler, ConnectionOptions options);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// Exchanges prefaces, then starts. One of the two, once. Fails with kIncompatible for a foreign
  /// protocol, kDeadline, or what the stream says.
  Task<Result<void>> open_as_client(TimePoint deadline);
  Task<Result<void>> open_as_server();

  /// Sends a request and waits for the end of its answer. Fails with kDeadline, kCancelled, kBusy
  /// and kTooLarge (bounds of ours), the reason why the connection ended (kConnectionLost as a
  /// rule), the sink's error, or the peer's. The sink is not called after this has returned. When
  /// the call is given up the peer is told.
  Task<Result<CallReport>> call(Method method, FrameBuffer request, AnswerSink& sink,
                                CallOptions options);

  /// Queues a notification, or fails with kBusy or the reason why the connection ended.
  Result<void> notify(Method method, FrameBuffer body);

  /// Tells the peer why, and ends the connection. For peers that break the protocol or are not
  /// wanted.
  void refuse(Error error);

  /// Ends pending calls with kConnectionLost and lets what is queued be sent, within the farewell
  /// time; then the connection ends by itself. For a connection that nobody needs any more.
  void finish();

  /// Whether calls have a chance.
  bool usable() const noexcept { return opened_ && !ended_; }
  /// Returns when nothing more can come from the peer, with the reason. One waiter.
  Task<Error> wait_ended();

  /// finish(), and waits for every coroutine of the connection. Repeatable, one at a time. Handlers
  /// of this connection must not await it. The caller has disabled Asio's cancellation.
  Task<void> close();

  const std::string& peer_name() const noexcept { return stream_->peer_name(); }

 private:
  /// How the stream ends: at once; when everything queued is written; or after that, when the peer
  /// has had time to read it.
  enum class Farewell { kNone, kFlush, kLinger };
  class CallFrame;

  Result<void> opened(Result<void> preface);
  void end(Error error, Farewell farewell);
  void end_stream() noexcept;
  Result<void> may_send(Method method, std::size_t bytes, std::uint32_t limit) const;
  void give_up(PendingCall& call, Error error);
  void send_control(FrameKind kind, Method method, std::uint64_t id, FrameBuffer frame);

  // connection_read.cc
  Task<void> read_loop();
  Task<Result<void>> read_frame();
  Task<Result<void>> read_large(FrameHeader header);
  Task<Result<void>> buffer(std::size_t wanted);
  Result<void> heard(const Result<std::size_t>& got);
  void dispatch(const FrameHeader& header, std::span<const std::byte> body);
  void on_request(const FrameHeader& header, std::span<const std::byte> body);
  void on_answer(const FrameHeader& header, std::span<const std::byte> body);
  void on_error(const FrameHeader& header, std::span<const std::byte> body);
  Task<void> serve(std::unique_ptr<InboundCall> call);

  // connection_watch.cc
  Task<void> write_loop();
  Task<void> watch_loop();
  TimePoint next_wake() const;
  void expire_calls(TimePoint now);
  void keep_alive(TimePoint now);

  const asio::any_io_executor executor_;
  Clock& clock_;
  const std::unique_ptr<ByteStream> stream_;
  CallHandler& handler_;
  const ConnectionOptions options_;
  BufferedReader reader_;
  SendQueue queue_;
  CallTable calls_;
  std::unordered_map<std::uint64_t, InboundCall*> inbound_;
  std::uint64_t last_inbound_ = 0;

  bool opened_ = false;
  bool closed_ = false;
  bool stream_ended_ = false;
  bool read_ended_ = false;
  bool linger_ = false;
  std::optional<Error> ended_;         // why no call has a chance any more
  std::optional<Error> write_failed_;  // until the reader has looked for the peer's last words
  TimePoint farewell_until_{};
  Event end_event_;

  std::unique_ptr<Timer> timer_;  // of watch_loop
  TimePoint watching_for_{};
  TimePoint quiet_since_{};  // when the peer was last heard or pinged
  std::uint32_t pings_ = 0;  // sent since it was last heard

  TaskScope scope_;
};

}  // namespace corail
