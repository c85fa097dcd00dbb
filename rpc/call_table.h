#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "rpc/call.h"
#include "rpc/method.h"

namespace corail {

/// One call of ours until its outcome is known. Lives in the frame that waits for it.
struct PendingCall {
  PendingCall(const asio::any_io_executor& executor, AnswerSink& answer_sink, Method called,
              TimePoint start, TimePoint until)
      : sink(answer_sink), method(called), started(start), deadline(until), done(executor) {}

  AnswerSink& sink;
  const Method method;
  const TimePoint started;
  const TimePoint deadline;
  std::uint64_t id = 0;
  std::uint64_t answer_bytes = 0;  // on the wire so far
  bool ended = false;
  Result<void> outcome;  // once ended
  Event done;
};

/// The calls of ours that have no outcome yet, by id and by deadline. Owned by the connection, on
/// its executor.
class CallTable {
 public:
  explicit CallTable(const asio::any_io_executor& executor) : idle_(executor) {}

  /// Numbers the call and keeps a reference until end() or remove().
  void add(PendingCall& call);
  /// The frame of the call is about to go.
  void remove(PendingCall& call);
  /// Fixes the outcome and wakes the caller, who gets control later.
  void end(PendingCall& call, Result<void> outcome);

  PendingCall* find(std::uint64_t id) const;
  /// Whether a call of ours ever had this id.
  bool issued(std::uint64_t id) const noexcept { return id <= last_id_; }
  /// How many have no outcome.
  std::size_t waiting() const noexcept { return by_id_.size(); }

  void end_all(const Error& error);
  std::vector<PendingCall*> due(TimePoint now) const;
  std::optional<TimePoint> next_deadline() const;

  /// Returns when no frame of a call is left. One waiter.
  Task<void> wait_idle();

 private:
  void forget(const PendingCall& call);

  std::uint64_t last_id_ = 0;
  std::size_t frames_ = 0;
  std::unordered_map<std::uint64_t, PendingCall*> by_id_;
  std::set<std::pair<TimePoint, std::uint64_t>> by_deadline_;
  Event idle_;
};

}  // namespace corail
