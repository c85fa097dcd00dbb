#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/byte_stream.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "rpc/call_handler.h"
#include "rpc/connection.h"
#include "rpc/messages.h"
#include "rpc/session_server.h"

namespace corail {

class SessionClient;

/// What a session asks of whoever keeps the sessions of a node. Home executor; outlives them.
class SessionKeeper {
 public:
  virtual ~SessionKeeper() = default;

  virtual const SessionServices& services() const noexcept = 0;
  virtual TemplateCache& templates() noexcept = 0;
  /// The number of one more stay; no two are alike.
  virtual SessionId next_stay() = 0;
  /// Whether that node shares a session with this one already which it does not call over.
  virtual bool shares_unused(const NodeIdentity& caller) const = 0;
};

struct SessionOptions {
  ConnectionOptions connection;
  Duration hello_time = std::chrono::seconds(10);  // from the preface to the end of Hello
};

/// One control connection between two nodes, whoever dialed it, with what hangs on either
/// direction: the *use*, which is the SessionClient that calls over it from here, and the *stay*,
/// which is the SessionServer with everything that is held here for the other node (contract 5).
/// At most one of each at a time; both may end and begin again while the connection lives, a stay
/// each time under a number of its own, so that nothing of an old one can reach a new one.
///
/// Shared by the one that runs it, from its beginning until its run() has returned, and by the
/// SessionClient that uses it, made by std::make_shared; the stays are its own. The connection ends
/// when it breaks, when the node closes, and when there is neither use nor stay: a side whose use
/// ends says Goodbye and leaves the connection to the other's. Home executor only. Before it is
/// destroyed run() has returned.
class Session final : public std::enable_shared_from_this<Session>, private CallHandler {
 public:
  enum class Origin { kDialed, kAccepted };

  /// Without a keeper this side only calls. `clock` and the keeper outlive the session.
  Session(asio::any_io_executor executor, Clock& clock, std::unique_ptr<ByteStream> stream,
          SessionOptions options, Origin origin, SessionKeeper* keeper);
  ~Session() override;

  /// For a dialed one: exchanges prefaces, once, and says Hello, until the answer is kDone; each
  /// answer fixes remote(). Fails with kIncompatible (also for a foreign protocol), kDeadline,
  /// kConnectionLost, or the peer's no. Whatever comes of it: run() has to be awaited.
  Task<Result<HelloStep>> meet(HelloRequest hello, TimePoint deadline);
  /// Waits for the end of the connection, then gives back everything of the stays.
  Task<void> run();

  /// For an accepted one: its whole life. With a refusal the peer is told why instead of being
  /// served. `stay` numbers that of the peer, which begins with its Hello.
  Task<void> accept(SessionId stay, std::optional<Error> refusal);

  /// Makes run() return soon; the peer is told that the node is closing.
  void stop();
  /// Makes run() return soon, if nobody uses it. For a connection that lost against another.
  void give_way();

  /// Begins and ends the use of this side. Ending it waits for the end of the whole session, unless
  /// the other side stays. `user` outlives its use.
  void begin_use(SessionClient& user);
  Task<void> end_use();

  /// Tells a peer that stays that the table it knows is old. Best effort: queries find out by
  /// themselves.
  void regions_changed(TableGeneration generation);

  /// Whether both sides may call, and have a chance.
  bool two_way() const noexcept {
    return greeted_ && (features_ & kFeatureTwoWay) != 0 && connection_.usable();
  }
  bool used() const noexcept { return user_ != nullptr; }
  bool served() const noexcept { return stay_ != nullptr; }
  Origin origin() const noexcept { return origin_; }
  /// The other node, as it says; from Hello on.
  const NodeIdentity& remote() const noexcept { return remote_; }
  std::uint64_t features() const noexcept { return features_; }  // in use on this connection
  Connection& connection() noexcept { return connection_; }
  const std::string& peer_name() const noexcept { return connection_.peer_name(); }

 private:
  Task<Result<FrameBuffer>> serve(InboundCall& call) override;
  Result<void> on_notify(Method method, std::span<const std::byte> body) override;

  // session_hello.cc
  Result<FrameBuffer> hello(std::span<const std::byte> body);
  Result<HelloAnswer> take_answer(std::span<const std::byte> body, const HelloRequest& asked);
  Task<Result<HelloStep>> greet(HelloRequest hello, TimePoint deadline);
  Task<void> watch_hello();

  Result<std::shared_ptr<SessionServer>> stay_for(Method method);
  void begin_stay(SessionId id);
  Task<void> end_stay(std::shared_ptr<SessionServer> stay);
  void on_goodbye(GoodbyeReason reason);
  void say_goodbye(GoodbyeReason reason);
  void finish_if_unused();

  const asio::any_io_executor executor_;
  Clock& clock_;
  const SessionOptions options_;
  const Origin origin_;
  SessionKeeper* const keeper_;
  Connection connection_;
  std::unique_ptr<Timer> hello_timer_;
  std::optional<SessionId> first_stay_;  // of an accepted one
  bool dialing_;  // by this side, which has not decided yet whether to use it
  bool opened_ = false;
  bool greeted_ = false;
  NodeIdentity remote_;
  std::uint64_t features_ = 0;
  SessionClient* user_ = nullptr;
  std::shared_ptr<SessionServer> stay_;
  std::uint32_t ending_stays_ = 0;
  bool over_ = false;  // run() has done its work
  Event over_event_;
  TaskScope scope_;
};

}  // namespace corail
