#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "engine/rail/tcp/channel_opener.h"
#include "engine/rail/tcp/channel_turns.h"
#include "engine/rail/tcp/tcp_channel.h"
#include "engine/rail/tcp/tcp_options.h"
#include "engine/rail/transport.h"

namespace corail {

/// A rail over sockets: `channels` connections from one local address to a TcpRailDoor, and an
/// express one for small reads, see ChannelTurns.
///
/// A fence is immediate and local, because our own receive calls are the only writers. Losing one
/// channel makes the rail unusable for new slices; those on its other channels go on.
///
/// Ownership, thread and closing as Transport says; the clock must outlive it, too. One call of
/// close() at a time.
class TcpTransport final : public Transport {
 public:
  TcpTransport(asio::any_io_executor executor, Clock& clock, TcpOptions options);
  ~TcpTransport() override;
  TcpTransport(const TcpTransport&) = delete;
  TcpTransport& operator=(const TcpTransport&) = delete;

  Task<Result<void>> connect(RailEndpoint remote, TimePoint deadline) override;
  const Capabilities& capabilities() const noexcept override { return capabilities_; }
  void post(ReadContext context, std::span<const Slice> slices, SliceSink& sink) override;
  void flush() override;
  Task<Result<void>> fence(SliceSink& sink, TimePoint deadline) override;
  Task<void> close() override;
  void when_lost(Lost lost) override { lost_ = std::move(lost); }
  bool usable() const noexcept override;

 private:
  enum class Phase { kNew, kConnecting, kConnected, kClosed };
  /// A slice that could not be posted, and what its sink will be told.
  struct Rejected {
    Slice slice;
    SliceSink* sink = nullptr;
    Error why;
  };

  Task<Result<void>> open_channels(RailEndpoint remote, TimePoint deadline);
  /// The express one for a slice of a small read beside others, whose turns it would have to share;
  /// else whichever of the others has least to bring.
  TcpChannel& channel_for(const Slice& slice, const ReadContext& context) const noexcept;
  bool has_others_than(const ReadContext& context) const noexcept;
  Error why_unusable() const;
  std::uint32_t live() const noexcept;
  void reject(const Slice& slice, SliceSink& sink, Error why);
  Task<void> tell_rejected();

  const asio::any_io_executor executor_;
  const TcpOptions options_;
  const Capabilities capabilities_;
  ChannelOpener opener_;
  std::shared_ptr<PushCourier> courier_;               // of the endpoint
  std::vector<std::unique_ptr<TcpChannel>> channels_;  // the express one is the last
  ChannelTurns turns_;
  /// Slices whose outcome must wait until post() has returned; no more than one call of post()
  /// brings, or than those may post that are told.
  std::deque<Rejected> rejected_;
  bool telling_ = false;
  TaskScope scope_;
  Event connect_ended_;
  Lost lost_;
  Phase phase_ = Phase::kNew;
};

}  // namespace corail
