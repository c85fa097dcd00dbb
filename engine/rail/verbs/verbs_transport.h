#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "engine/rail/transport.h"
#include "engine/rail/verbs/verbs_channel.h"
#include "engine/rail/verbs/verbs_port.h"
#include "engine/rail/verbs/verbs_request.h"

namespace corail {

/// A rail over reliable queue pairs: `channels` of them from one local port to a VerbsRailDoor. We
/// post READs, so nobody else writes here.
///
/// A fence moves the queue pairs that its sink has slices on to ERR, waits until the device has
/// flushed every request of theirs, and builds them anew; slices of other sinks that it flushed are
/// posted again here and nobody hears of it. A request that the device or the peer refuses costs
/// its queue pair as well: it alone fails, the pair is rebuilt, no faster than once in
/// kRebuildGap. Only what the path fails, what is flushed although nobody here gave it up, and
/// a queue pair that cannot be built anew lose the rail. A queue pair that nothing is posted on and
/// that the device will not destroy is kept for ever.
///
/// Ownership, thread and closing as Transport says; the clock must outlive it, too. One call of
/// close() at a time.
class VerbsTransport final : public Transport, private CompletionOwner {
 public:
  VerbsTransport(std::shared_ptr<VerbsPort> port, Clock& clock);
  ~VerbsTransport() override;
  VerbsTransport(const VerbsTransport&) = delete;
  VerbsTransport& operator=(const VerbsTransport&) = delete;

  Task<Result<void>> connect(RailEndpoint remote, TimePoint deadline) override;
  const Capabilities& capabilities() const noexcept override { return capabilities_; }
  void post(ReadContext context, std::span<const Slice> slices, SliceSink& sink) override;
  Task<Result<void>> fence(SliceSink& sink, TimePoint deadline) override;
  Task<void> close() override;
  void when_lost(Lost lost) override { when_lost_ = std::move(lost); }
  bool usable() const noexcept override { return phase_ == Phase::kConnected && !lost_; }

 private:
  enum class Phase { kNew, kConnecting, kConnected, kClosing, kClosed };
  /// A slice with its outcome, which its sink has not heard yet.
  struct Ended {
    Slice slice;
    SliceSink* sink = nullptr;
    Result<void> outcome;
  };
  class Waiter;

  // Requests: verbs_transport.cc.
  void on_completion(OpKey key, const Completion& completion) noexcept override;
  void pump();
  void post_waiting();
  bool post_chain(VerbsChannel& channel, std::size_t share);
  void end(const VerbsRequest& request, Result<void> outcome);
  void settle_failed(VerbsChannel& channel, const VerbsRequest& request, const Completion& told);
  void settle(OpKey key, Result<void> outcome);

  // Outcomes: verbs_outcomes.cc.
  void deliver() noexcept override;
  void on_broken(const Error& why) noexcept override;
  std::size_t undone(const SliceSink& sink) const;
  void lose(Error why);
  Error unposted() const;
  void tell_lost();
  void deliver_soon();
  Task<void> deliver_later();

  // Channels: verbs_channels.cc.
  Task<Result<void>> open_channels(TimePoint deadline);
  Task<Result<void>> join_peer(std::span<VerbsChannel* const> joined, TimePoint deadline);
  Task<Result<LocalEnd>> offer(std::span<VerbsChannel* const> joined);
  void look_after_channels();
  Task<void> rebuild(VerbsChannel& channel);
  bool wants_channels() const noexcept { return phase_ == Phase::kConnecting || usable(); }
  Task<void> destroy(VerbsChannel& channel, std::optional<TimePoint>& give_up);
  Task<void> wait_until_drained(TimePoint deadline);
  Task<void> pause(Duration time);

  const std::shared_ptr<VerbsPort> port_;
  Clock& clock_;
  const asio::any_io_executor executor_;
  const Capabilities capabilities_;
  RailEndpoint remote_;
  std::vector<std::unique_ptr<VerbsChannel>> channels_;
  std::deque<VerbsRequest> waiting_;  // with those that are posted, at most max_slices
  std::vector<OpKey> posted_;         // in no order
  std::deque<Ended> ended_;           // at most max_slices, and what post() rejects
  std::vector<Waiter*> waiters_;      // for something to end
  std::optional<Error> lost_;
  bool delivering_later_ = false;
  bool lost_told_ = false;
  Lost when_lost_;
  TaskScope scope_;
  Event connect_ended_;
  Phase phase_ = Phase::kNew;
};

}  // namespace corail
