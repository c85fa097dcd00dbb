#pragma once

#include <asio/any_io_executor.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/base/clock.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/rail/tcp/tcp_channel.h"

namespace corail {

/// How long the other channels of a rail stay silent for the express one before they have a turn
/// again: a round trip, and what the holder's thread may be busy with.
inline constexpr Duration kMostSilence = std::chrono::milliseconds(1);

/// How the channels of a rail take turns. The last one, where there are several, is the express
/// channel: it carries slices of small reads only, so that none of them stands behind a window of
/// large ones in a socket's buffers.
///
/// While it has something to bring and another read uses the other channels, those fall silent
/// before each of their turns: until the express channel has nothing left, or has brought as much
/// as all of them bring in a turn, or has had kMostSilence. So a small read has the rail's thread,
/// and the memory of both hosts, nearly to itself, but no more than its part of the bytes.
///
/// Owned by the transport, together with the channels; on its executor.
class ChannelTurns {
 public:
  ChannelTurns(const asio::any_io_executor& executor, Clock& clock,
               const std::vector<std::unique_ptr<TcpChannel>>& channels);

  /// Returns once the channel may receive, until its turn is over. One call a channel at a time.
  Task<void> begin(const TcpChannel& channel);
  /// The turn is over: kTurnBytes have come, or all there was.
  void end(const TcpChannel& channel) noexcept;

  /// Nobody waits any longer, because the channels have ended.
  void release() noexcept;

 private:
  bool others_wait() const noexcept;
  bool express_has_had_its_part() const noexcept;
  void fall_silent();

  const asio::any_io_executor executor_;
  Clock& clock_;
  const std::vector<std::unique_ptr<TcpChannel>>& channels_;
  const std::unique_ptr<Timer> timer_;
  bool silent_ = false;
  std::uint64_t silent_since_ = 0;  // what the express channel had received then
  std::vector<Event*> waiting_;     // in frames of begin(), one for each channel at most
};

}  // namespace corail
