#pragma once

#include <asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <string>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "engine/rail/slice_source.h"
#include "engine/rail/transport.h"

namespace corail {

/// How much a rail may have posted and not landed. The bound is what makes the wait of a cancel
/// bounded (contract 3).
struct RailWindow {
  std::uint64_t bytes = 0;
  std::uint64_t max_slice_bytes = 0;
};

/// How long a rail's transport may take to close; contract 4 has no step behind it.
inline constexpr Duration kRailCloseTime = std::chrono::seconds(5);

/// What a rail has done so far.
struct RailCounters {
  std::uint64_t bytes = 0;   // of slices that landed whole
  std::uint64_t reads = 0;   // slices posted
  std::uint64_t errors = 0;  // slices that the path failed; not flushes, nor the holder's answers
};

/// One path: a local port x a peer's port, with its transport and its window. Reads attach their
/// shares; the rail pulls slices from them as the window frees up, in turns of equal bytes, so that
/// a small read does not wait behind a big one.
///
/// Owned by the peer's rail set; used on the port's executor only. A share must be detached, and
/// the rail closed with success, before either is destroyed. The clock outlives it. A cancel does
/// not reach in here: the share stops handing out slices and asks for a fence.
class Rail {
 public:
  Rail(std::string name, asio::any_io_executor executor, Clock& clock,
       std::unique_ptr<Transport> transport, RailWindow window);
  ~Rail();
  Rail(const Rail&) = delete;
  Rail& operator=(const Rail&) = delete;

  const std::string& name() const noexcept { return name_; }
  asio::any_io_executor executor() const { return executor_; }
  bool usable() const noexcept { return transport_->usable(); }
  const Capabilities& capabilities() const noexcept { return transport_->capabilities(); }
  const RailCounters& counters() const noexcept { return counters_; }

  Task<Result<void>> connect(RailEndpoint remote, TimePoint deadline);

  /// Starts to pull slices from the share. It must stay alive until detach().
  void attach(SliceSource& source);

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

  /// Closes the transport, beside the caller: every posted slice gets its outcome, unless the
  /// device hangs. Idempotent.
  void begin_close();

  /// The same, and returns when it is done. Fails with kStuck when the transport has not closed
  /// within kRailCloseTime: only then may the rail not be destroyed. One caller at a time; may be
  /// called again.
  Task<Result<void>> close();

 private:
  class Attachment;

  Attachment* find(const SliceSource& source) const noexcept;
  void forget(const Attachment& attachment);
  Attachment* next_in_turn() const noexcept;
  std::uint64_t whole_slice() const noexcept;
  bool has_room() const noexcept;
  void schedule_pump();
  void pump();
  void post_batch(Attachment& attachment);
  Task<void> close_transport();

  const std::string name_;
  const asio::any_io_executor executor_;
  Clock& clock_;
  const std::unique_ptr<Transport> transport_;
  const RailWindow window_;
  std::list<std::unique_ptr<Attachment>> attachments_;
  RailCounters counters_;
  std::uint64_t bytes_in_flight_ = 0;
  std::uint32_t slices_in_flight_ = 0;
  bool pump_scheduled_ = false;
  bool closing_ = false;
  bool closed_ = false;
  Event close_changed_;
  TaskScope scope_;  // closing
  /// Keeps a scheduled pump from touching a rail that is gone.
  std::shared_ptr<Rail*> self_;
};

}  // namespace corail
