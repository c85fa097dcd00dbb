#pragma once

#include <asio/any_io_executor.hpp>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "engine/rail/health.h"
#include "engine/rail/landing_window.h"
#include "engine/rail/port_budget.h"
#include "engine/rail/posted_slices.h"
#include "engine/rail/rail_options.h"
#include "engine/rail/rail_status.h"
#include "engine/rail/slice_source.h"
#include "engine/rail/transport.h"

namespace corail {

/// What a rail has done so far, over all its generations.
struct RailCounters {
  std::uint64_t bytes = 0;   // of slices that landed whole
  std::uint64_t reads = 0;   // slices posted
  std::uint64_t errors = 0;  // slices that the path failed, and devices that flushed all by
                             // themselves; not the holder's answers
};

/// One path: a local port x a peer's port, with its transport and its window. Reads attach their
/// shares; the rail pulls slices from them as the window frees up, in turns of equal bytes. A share
/// with nothing in flight may post a small slice even while others fill the window, so that a small
/// read does not wait behind a big one.
///
/// A rail that fails takes no new shares, waits for those it has to end, and is rebuilt with a
/// fresh transport as soon as its breaker lets it. The watchdog fails it, too, once its oldest
/// slice has been silent for too long, as does a port that goes down: then every share is told, and
/// nothing more is posted.
///
/// Owned by the peer's rail set; used on the port's executor only, but for what says otherwise. A
/// share must be detached, and the rail closed with success, before either is destroyed. The clock
/// outlives it. A cancel does not reach in here: the share stops handing out slices and asks for a
/// fence.
class Rail final : private PortListener {
 public:
  using MakeTransport = std::function<std::unique_ptr<Transport>()>;

  /// `make_transport` is called for every generation.
  Rail(std::string name, asio::any_io_executor executor, Clock& clock, MakeTransport make_transport,
       RailWindow window, RailOptions options);
  /// A rail with this one transport: once lost, it stays so.
  Rail(std::string name, asio::any_io_executor executor, Clock& clock,
       std::unique_ptr<Transport> transport, RailWindow window);
  ~Rail() override;
  Rail(const Rail&) = delete;
  Rail& operator=(const Rail&) = delete;

  const std::string& name() const noexcept { return name_; }
  asio::any_io_executor executor() const { return executor_; }
  /// Any thread. Whether a read may start on it, and why not.
  RailStatus status() const { return status_.read(); }
  bool usable() const noexcept { return transport_ != nullptr && transport_->usable(); }
  /// Any thread. Whether it has ever been connected.
  bool known() const noexcept { return known_.load(std::memory_order_acquire); }
  /// Any thread, once known(): the same for all generations.
  const Capabilities& capabilities() const noexcept { return capabilities_; }
  const RailCounters& counters() const noexcept { return counters_; }
  /// Any thread. Of the port that it shares with other rails; null: none.
  const std::shared_ptr<PortBudget>& port_budget() const noexcept { return port_place_.budget(); }
  const RailHealth& health() const noexcept { return health_; }

  /// Once only. From its return on the rail looks after itself, also where it failed: it goes on to
  /// connect, with back-off, until it is closed.
  Task<Result<void>> connect(RailEndpoint remote, TimePoint deadline);

  /// Starts to pull slices from the share. It must stay alive until detach(). Fails with
  /// kConnectionLost where the rail is not ready.
  Result<void> attach(SliceSource& source);

  /// A share that had no slice when it was asked has one again.
  void ask_again(SliceSource& source);

  /// Ends pulling. Every slice of the share must have had its outcome.
  void detach(SliceSource& source);

  /// Ends pulling although slices are posted, because the device answers nothing any more: the
  /// share hears of them no more and may go. Whoever calls this keeps their memory for ever
  /// (contract 4).
  void abandon(SliceSource& source);

  /// Wall time spent cutting and posting, which queues and never blocks, for this share so far.
  Duration submit_time(const SliceSource& source) const;

  /// See Transport::fence.
  Task<Result<void>> fence(SliceSource& source, TimePoint deadline);

  /// See Transport::grant. The share is attached, and hands out no pushed slice before this has
  /// returned a success. Whatever it returned, revoke() follows.
  Task<Result<void>> grant(SliceSource& source, std::vector<std::span<std::byte>> memory,
                           TimePoint deadline);
  /// See Transport::revoke. Before detach(); not for a share that is abandoned.
  Task<void> revoke(SliceSource& source);

  /// Closes the transport beside the caller, because of a fence that failed so: every posted slice
  /// gets its outcome, unless the device hangs. The rail is rebuilt.
  void give_up(const Error& why);

  /// Closes the rail for good, beside the caller. Idempotent.
  void begin_close();

  /// The same, and returns when it is done. Fails with kStuck when the transport has not closed
  /// within kRailCloseTime: only then may the rail not be destroyed. One caller at a time; may be
  /// called again.
  Task<Result<void>> close();

 private:
  class Attachment;

  // Posting: rail.cc.
  Attachment* find(const SliceSource& source) const noexcept;
  void forget(const Attachment& attachment);
  /// Whoever is new, or had nothing to post for a while, comes next, but has no claim to what the
  /// others got before. What they have in flight they do not have yet.
  void join_turns(Attachment& attachment) const noexcept;
  void back_in_turn(Attachment& attachment) const noexcept;
  Attachment* next_in_turn() const noexcept;
  std::uint64_t whole_slice() const noexcept;
  /// The longest slice that the share may post now; 0: none.
  std::uint64_t room_for(const Attachment& attachment) const noexcept;
  void schedule_pump();
  void pump();
  void post_batch(Attachment& attachment);

  // Health: rail_faults.cc.
  void judge(const Result<void>& outcome);
  void path_failed(const Error& why);
  void lose(const Error& why);
  void condemn(const Error& why);
  void tell(RailState state, std::string why);
  void transport_lost(const Error& why);
  void arm_watchdog(TimePoint when);
  void watch();

  // Life: rail_life.cc.
  Task<void> live();
  Task<void> rebuild();
  Task<void> rest();
  Task<Result<void>> try_connect(TimePoint deadline);
  Task<Result<void>> take_turn(TimePoint deadline);
  void book_failed_connect(const Error& error, bool had_its_time);
  Result<void> check_connected() const;
  void start_closing_transport();
  Task<void> close_transport();
  bool port_active() const noexcept;
  /// A port that is down fails the rail, which is nobody's fault.
  void port_changed() override;
  std::function<void()> wake_life() const;

  const std::string name_;
  const asio::any_io_executor executor_;
  Clock& clock_;
  const MakeTransport make_transport_;  // null: never rebuilt
  const RailOptions options_;
  LandingWindow window_;
  std::unique_ptr<Transport> transport_;  // null between two generations
  Capabilities capabilities_;
  std::atomic<bool> known_{false};  // the capabilities are, and stay so
  RailStatusBoard status_;
  RailHealth health_;
  PortBudget::Place port_place_;
  RailEndpoint remote_;
  std::list<std::unique_ptr<Attachment>> attachments_;
  PostedSlices posted_;
  RailCounters counters_;
  std::uint64_t bytes_in_flight_ = 0;
  std::uint64_t last_turn_ = 0;  // where the last turn began, in the shares' turn bytes
  bool pump_scheduled_ = false;
  bool lost_ = false;               // this generation: it drains
  bool condemned_ = false;          // likewise: nothing more is posted on it
  bool transport_closing_ = false;  // likewise
  bool transport_closed_ = false;
  bool living_ = false;  // live() runs
  bool closing_ = false;
  const std::unique_ptr<Timer> watchdog_;
  bool watching_ = false;
  const std::unique_ptr<Timer> rest_timer_;
  std::unique_ptr<ConnectLimit::Turn> turn_;  // its place among those that connect or will
  std::shared_ptr<bool> granted_;             // whether that turn has come
  Event life_changed_;                        // for live(), and for connect() before it
  Event close_changed_;
  TaskScope scope_;  // closing transports, live()
  /// Keeps what is queued or armed from touching a rail that is gone.
  std::shared_ptr<Rail*> self_;
};

}  // namespace corail
