#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/region_table.h"
#include "engine/base/result.h"
#include "engine/exec/byte_stream.h"
#include "engine/exec/credits.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "engine/rail/push.h"
#include "engine/read/owner.h"
#include "rpc/call.h"
#include "rpc/codec.h"
#include "rpc/connection.h"
#include "rpc/messages.h"
#include "rpc/object_messages.h"
#include "rpc/session.h"

namespace corail {

/// Orders that the owner has at a time, of one session: some calls less than it serves.
inline constexpr std::uint64_t kMaxOrdersUnderWay = 128;

struct ClientOptions {
  NodeIdentity identity;  // of this node
  ConnectionOptions connection;
};

/// What to ask a holder for.
struct TransferQuery {
  ReadId read;
  std::shared_ptr<const BlockKeys> keys;
  std::shared_ptr<const Layout> layout;             // the requester's own
  Duration ttl{};                                   // 0: the holder's default
  AnswerEncoding encoding = AnswerEncoding::kRuns;  // others only where the holder knows them
  Duration wait{};                                  // for blocks that are not sealed yet
};

/// The requester's side of a session: typed calls, answers checked. Also the Owner of the reads it
/// has queried.
///
/// Owned by the peer, on the home executor. It shares the session, and is its one user until
/// close(), which must have been awaited before destruction; no call may be running then. Every
/// call fails with the reason why the connection ended once it has.
class SessionClient final : public Owner {
 public:
  /// Says Hello over a connected stream, for a session that nobody else knows and that serves
  /// nothing: the client runs it. `clock` outlives the session. Fails with kIncompatible (with the
  /// reason, also for a foreign protocol), kDeadline, kConnectionLost, or the peer's no.
  static Task<Result<std::unique_ptr<SessionClient>>> connect(asio::any_io_executor executor,
                                                              Clock& clock,
                                                              std::unique_ptr<ByteStream> stream,
                                                              ClientOptions options,
                                                              TimePoint deadline);

  /// How somebody came to use a session: the name under which the other node was dialed, and
  /// whether another connection to it was found that can do.
  struct Way {
    std::string name;
    bool found = false;
  };

  /// Uses a session that somebody else runs; it is past its Hello and nobody uses it.
  SessionClient(const asio::any_io_executor& executor, Clock& clock,
                std::shared_ptr<Session> session, Way way);
  ~SessionClient() override;
  SessionClient(const SessionClient&) = delete;
  SessionClient& operator=(const SessionClient&) = delete;

  /// The node at the other end.
  const NodeIdentity& holder() const noexcept { return holder_; }
  /// Whether the session was there already, for the other node's purposes: then it may have ended
  /// in the moment when this side took it up.
  bool found() const noexcept { return way_.found; }
  const std::string& peer_name() const noexcept { return way_.name; }

  /// Where to connect rails to, once per session; also fetches the region table. `descriptions`:
  /// one per rail of this node.
  Task<Result<std::vector<RailEndpoint>>> open_rails(std::vector<std::string> descriptions,
                                                     TimePoint deadline);

  /// What a rail says to the door that it connects to, and the door's answer: see RailGreeter.
  Task<Result<std::string>> greet_door(std::uint32_t door, std::string words, TimePoint deadline);

  /// The newest table known; empty before open_rails().
  std::shared_ptr<const RegionTable> regions() const noexcept { return regions_; }
  /// One that is no older than `generation`: fetched again, once, where it is. kGenerationChanged:
  /// it is older even then.
  Task<Result<std::shared_ptr<const RegionTable>>> regions_since(TableGeneration generation,
                                                                 CallOptions options);

  /// The longest prefix the holder has, leased; may be no block at all. The table in the answer is
  /// at least as new as its addresses: an old one is fetched again, once. Fails with
  /// kInvalidArgument or kTooLarge (the keys; nothing was sent then), kLayoutMismatch, kProtocol
  /// (an answer that breaks the rules), or what the holder or the connection says. A failure may
  /// leave a lease at the holder: release() it as after a success.
  Task<Result<TransferAnswer>> query(TransferQuery query, CallOptions options);

  /// Asks for `ttl` more; how long the lease lasts, counted from when this was called.
  /// kLeaseExpired and kNotFound are the holder's no; after kDeadline or a transport error nobody
  /// knows, so nothing was extended.
  Task<Result<Duration>> renew(ReadId read, Duration ttl, CallOptions options);

  /// Whether the other node serves objects; whether it has any is another question.
  bool knows_objects() const noexcept { return (features_ & kFeatureObjects) != 0; }
  /// For the calls of objects and puts.
  Connection& connection() noexcept { return connection_; }
  /// Asks the owner to write into this node's memory. `answered` is called once, on home, and not
  /// from within: PushCourier::order. At most kMaxOrdersUnderWay at a time, the others wait in
  /// turn; there are never more of them than slices that rails have posted.
  void order_stripes(ReadStripesRequest request, PushCourier::Answered answered);

  /// Whether the holder knows ConfirmLease and LaneSums.
  bool knows_lane_ranges() const noexcept { return (features_ & kFeatureLaneRanges) != 0; }

  /// For each of the `blocks` of the read's prefix. `lanes`: of the layout, not empty.
  /// kLeaseExpired and kRefused are the holder's no.
  Task<Result<LaneSums>> lane_sums(ReadId read, LaneRange lanes, std::uint32_t blocks,
                                   CallOptions options);

  Task<Result<void>> confirm(ReadId read, TimePoint deadline, CancelToken cancel) override;
  Task<Result<void>> confirm_and_release(ReadId read, TimePoint deadline,
                                         CancelToken cancel) override;
  /// The holder admits nothing more for the read and keeps its lease.
  Task<Result<void>> quiesce(ReadId read, TimePoint deadline);
  Task<Result<void>> release(ReadId read, TimePoint deadline) override;

  /// The session that it uses, which others may know as well.
  const std::shared_ptr<Session>& session() const noexcept { return session_; }

  /// Returns when the connection has ended, or close() was called, with the reason. One waiter.
  Task<Error> wait_ended();

  /// Gives up the use of the session. Where the other node calls over it the connection stays for
  /// that; else this ends running calls and waits for everything of the session. Repeatable, one at
  /// a time.
  Task<void> close();

  // For the session.
  void on_regions_changed(TableGeneration generation);
  void end(Error why);

 private:
  Task<void> run_session();
  Task<Result<void>> fetch_regions(CallOptions options);
  Task<void> fetch_regions_unasked();
  Task<Result<void>> end_read(Method method, ReadId read, TimePoint deadline, CallCancel* cancel);
  Task<Result<void>> ask_confirmation(Method method, ReadId read, TimePoint deadline,
                                      CancelToken cancel);
  void take_regions(RegionTable table);
  Task<void> carry_order(ReadStripesRequest request, PushCourier::Answered answered);
  Task<Result<PushReceipt>> read_stripes(ReadStripesRequest request);
  void end_orders();

  const asio::any_io_executor executor_;
  Clock& clock_;
  const std::shared_ptr<Session> session_;
  Connection& connection_;
  const Way way_;
  const NodeIdentity holder_;
  const std::uint64_t features_;  // in use on this connection
  std::shared_ptr<const RegionTable> regions_ = std::make_shared<const RegionTable>();
  bool fetching_unasked_ = false;
  CallCancel stop_fetching_;
  std::optional<Error> ended_;  // why no call has a chance any more
  Event end_event_;
  bool closed_ = false;
  Credits orders_;
  std::set<CallCancel*> order_calls_;  // each in the frame of its read_stripes()
  /// Makes a greeting or an order that is on its way find out that the session is gone.
  const std::shared_ptr<SessionClient*> self_ = std::make_shared<SessionClient*>(this);
  TaskScope scope_;
};

}  // namespace corail
