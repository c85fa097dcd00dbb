#pragma once

#include <array>
#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "engine/rail/push_numbers.h"
#include "engine/rail/rail_door.h"
#include "engine/rail/tcp/data_frame.h"
#include "engine/rail/tcp/data_socket.h"
#include "engine/rail/tcp/reply_batch.h"
#include "engine/rail/tcp/serve_queue.h"
#include "engine/rail/tcp/served_order.h"
#include "engine/rail/tcp/tcp_options.h"

namespace corail {

/// On how many channels of a door small slices are served, and on how many others. Together they
/// take short turns, because they share the port's thread.
struct ServeLoad {
  std::size_t small = 0;
  std::size_t large = 0;
};

/// The holder's end of one data channel: serves READs and orders, out of pinned memory, in the
/// order that its queue says.
///
/// Owned by the frame that awaits run(); everything on the door's executor. Clock, gate and options
/// must outlive it, as must the door's load. close() makes
/// run() return soon; when it has, no pin is held. A requester that does not receive is closed
/// after TcpOptions::stall_time (I8).
class ServeChannel {
 public:
  ServeChannel(std::unique_ptr<DataSocket> socket, asio::any_io_executor executor, Clock& clock,
               SessionId session, std::uint64_t name, LeaseGate& gate, const TcpOptions& options,
               ServeLoad& load);

  /// Answers the preface, then serves until the requester closes, the protocol is broken, or
  /// close().
  Task<void> run();

  void close() noexcept;

  /// What its requester's orders call it.
  std::uint64_t name() const noexcept { return name_; }

  /// Queues an order, whose bytes are as many as it says, behind what waits. What is returned has
  /// its result and is told so once the last byte was given to the socket, or nothing more will be;
  /// the pin is gone then. `cancelled` is asked until then. kRefused: the number was used. kBusy.
  /// kConnectionLost.
  Result<std::shared_ptr<ServedOrder>> take_order(const PushOrder& order, PinnedBytes bytes,
                                                  std::function<bool()> cancelled);

 private:
  Task<void> read_requests();
  Task<void> send_replies();
  Task<bool> send_batch();
  Task<bool> send_rest();
  void watch_for_stall();
  Result<void> take(std::size_t count);
  Result<void> accept(const Request& request);
  void count_load();
  void fill_batch();
  bool admit(ServeQueue::Op& op);
  void add_data(ServeQueue::Op& op, std::uint64_t most);
  void add_last(ReplyKind kind, Refusal refusal, OpKey op);
  void end_cancelled(ServeQueue::Op& op);
  void tell_ended_orders();
  void end_all_orders();

  const std::unique_ptr<DataSocket> socket_;
  const asio::any_io_executor executor_;
  const SessionId session_;
  const std::uint64_t name_;
  LeaseGate& gate_;
  const std::uint64_t frame_bytes_;
  ServeLoad& load_;
  bool counted_small_ = false;  // this one is among them
  bool counted_large_ = false;
  const Duration stall_time_;
  Clock& clock_;
  const std::unique_ptr<Timer> stall_timer_;
  TaskScope scope_;
  Event queue_changed_;
  ServeQueue queue_;
  ReplyBatch batch_;
  PushNumbers order_numbers_;
  /// Those that nobody was told the end of; at most kMaxQueuedReads.
  std::vector<std::shared_ptr<ServedOrder>> orders_;
  bool watching_ = false;  // the stall timer runs
  std::array<std::byte, 64 * kRequestBytes> incoming_{};
  std::size_t incoming_bytes_ = 0;
};

}  // namespace corail
