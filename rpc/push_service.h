#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <unordered_map>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/credits.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "engine/object/striping_info.h"
#include "rpc/call_handler.h"
#include "rpc/object_messages.h"
#include "rpc/object_services.h"
#include "rpc/rail_host.h"

namespace corail {

/// Orders of one session that are served at a time (I8). Below what a connection serves of calls,
/// so that confirmations and releases still come through.
inline constexpr std::size_t kMaxOrdersOfSession = 192;
/// Those, and others that were given up and wait for a disk or for memory before they end.
inline constexpr std::size_t kMaxOrdersKept = 2 * kMaxOrdersOfSession;

/// The owner's side of the pushes of one session: takes orders, gets the bytes into memory, and has
/// the door that the order names write them. An order that is repeated writes nothing, because no
/// door takes a number twice (PushOrder::number).
///
/// Owned by the session's server, home executor only. An order goes on when its caller is gone, and
/// ends with its channel: stop(), then the session's rails are dropped, then end() must have
/// returned before destruction.
class PushService {
 public:
  PushService(const asio::any_io_executor& executor, Clock& clock, const ObjectServices& objects,
              RailHost& rails, SessionId session);
  ~PushService();
  PushService(const PushService&) = delete;
  PushService& operator=(const PushService&) = delete;

  /// Takes orders for this read, which has a lease, until quiesce() or forget().
  void open(ReadId read, std::shared_ptr<const StripingInfo> info, bool in_memory);
  std::size_t reads() const noexcept { return reads_.size(); }
  /// Those whose lease is no more are forgotten.
  void forget_lapsed();

  /// ReadStripes. Fails with kRefused (no such read, not its bytes), kLeaseExpired, kBusy,
  /// kCancelled (it was stopped), what the disk says, and as RailDoor::push().
  Task<Result<FrameBuffer>> serve(InboundCall& call, ReadStripesRequest request);

  /// Takes no more orders for the read, stops those that it has, and returns when none of them is
  /// on its way any more, or the caller is gone. kBusy: somebody waits for that already.
  Task<Result<void>> quiesce(ReadId read, InboundCall& call);
  /// The read has ended: as quiesce(), without waiting.
  void forget(ReadId read);

  /// Every order is stopped and every handler returns soon.
  void stop();
  Task<void> end();

 private:
  struct Read;
  struct Order;
  class AtDoor;
  class Serving;

  Result<std::shared_ptr<Order>> take(const ReadStripesRequest& request);
  Task<void> run(std::shared_ptr<Order> order);
  Task<Result<PushReceipt>> push(Order* order);
  Task<Result<void>> fetch(Order* order);
  Task<Result<void>> stage(Order* order);
  void finish(Order& order);
  /// Those of the read, which was stopped, that no door has are answered now: they may wait long
  /// for a disk, or for memory that others hold.
  void stop_orders(const Read& read);

  const asio::any_io_executor executor_;
  Clock& clock_;
  const ObjectServices& objects_;
  RailHost& rails_;
  const SessionId session_;
  std::unordered_map<ReadId, std::shared_ptr<Read>> reads_;
  std::set<Order*> orders_;  // each in the frame of its run()
  std::size_t serving_ = 0;  // those whose callers wait
  Credits staged_;           // buffers that this session may hold
  bool stopping_ = false;
  TaskScope scope_;
};

}  // namespace corail
