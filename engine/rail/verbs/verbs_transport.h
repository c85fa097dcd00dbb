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
#include "engine/rail/push.h"
#include "engine/rail/transport.h"
#include "engine/rail/verbs/verbs_channel.h"
#include "engine/rail/verbs/verbs_port.h"
#include "engine/rail/verbs/verbs_request.h"
#include "engine/rail/verbs/write_grants.h"

namespace corail {

/// A rail over reliable queue pairs: `channels` of them from one local port to a VerbsRailDoor.
/// What is pulled, we READ. What is pushed, the peer WRITEs, under keys that it gets for one sink
/// only and with an order for each slice: at most one for each RECV that is posted on the queue
/// pair, less one. The peer's last WRITE for an order uses one up; a slice ends with a success when
/// that has come and the owner has answered, in either order.
///
/// A fence moves the queue pairs that its sink has slices on to ERR, waits until the device has
/// flushed every request of theirs, and builds them anew; slices of other sinks that it flushed are
/// posted again here and nobody hears of it. A request that the device or the peer refuses costs
/// its queue pair as well: it alone fails, the pair is rebuilt, no faster than once in
/// kRebuildGap. Only what the path fails, what is flushed although nobody here gave it up, and
/// a queue pair that cannot be built anew lose the rail. A queue pair that nothing is posted on and
/// that the device will not destroy is kept for ever.
///
/// ERR alone does not stop a peer's WRITEs. Where the peer may have something to write, slices have
/// their outcomes only after ERR, the flushes of the RECVs and the end of the queue pair, and they
/// are flushed for everybody: an order is not sent again. That holds for whatever costs a queue
/// pair, and for an answer that leaves open what the owner does. A fence does not wait for
/// the owner's answers: who gives up has told it, and waited, before.
///
/// No key says when it may be used: a peer that writes outside of its orders can do so until
/// revoke(), inside the memory of that sink.
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
  /// On a control thread, a key for each piece of memory: a slice lies in one of them.
  Task<Result<void>> grant(SliceSink& sink, std::vector<std::span<std::byte>> memory,
                           TimePoint deadline) override;
  Task<void> revoke(SliceSink& sink) override;
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
  std::size_t held() const;

  // Slices that the owner writes: verbs_pushes.cc.
  void post_receives(VerbsChannel& channel);
  void order_waiting();
  void order(VerbsChannel& channel, const VerbsRequest& request);
  void answered(std::uint32_t index, std::uint64_t number, const Result<PushReceipt>& receipt);
  void on_receive(OpKey key, const Completion& completion);
  void blame_for_failed_receive(VerbsChannel& channel);
  void end_ordered(VerbsChannel& channel, std::size_t which, Result<void> outcome);
  void distrust(VerbsChannel& channel, Error why);
  void end_with_pair(VerbsChannel& channel);
  Task<Result<void>> grant_keys(SliceSink& sink, std::vector<std::span<std::byte>> memory,
                                TimePoint deadline);

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
  void give_up_channel(VerbsChannel& channel, ChannelFault fault);
  Task<void> fail_on_control(VerbsChannel& channel);
  Task<void> rebuild(VerbsChannel& channel);
  bool wants_channels() const noexcept { return phase_ == Phase::kConnecting || usable(); }
  Task<void> destroy(VerbsChannel& channel, std::optional<TimePoint>& give_up);
  Task<void> wait_until_drained(TimePoint deadline);
  Task<void> pause(Duration time);

  const std::shared_ptr<VerbsPort> port_;
  Clock& clock_;
  const asio::any_io_executor executor_;
  Capabilities capabilities_;  // fixed once connecting
  RailEndpoint remote_;
  std::vector<std::unique_ptr<VerbsChannel>> channels_;
  std::deque<VerbsRequest> waiting_;         // to be posted
  std::deque<VerbsRequest> waiting_orders_;  // to be ordered from the owner
  std::vector<OpKey> posted_;                // READs, in no order; with all others, max_slices
  WriteGrants grants_;
  std::deque<Ended> ended_;       // at most max_slices, and what post() rejects
  std::vector<Waiter*> waiters_;  // for something to end
  std::optional<Error> lost_;
  bool delivering_later_ = false;
  bool lost_told_ = false;
  Lost when_lost_;
  TaskScope scope_;
  Event connect_ended_;
  /// Makes an answer that comes too late find out that the rail is gone.
  const std::shared_ptr<VerbsTransport*> self_;
  Phase phase_ = Phase::kNew;
};

}  // namespace corail
