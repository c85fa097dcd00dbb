#include "engine/rail/tcp/channel_turns.h"

#include <utility>

#include "engine/rail/tcp/tcp_limits.h"

namespace corail {

ChannelTurns::ChannelTurns(const asio::any_io_executor& executor, Clock& clock,
                           const std::vector<std::unique_ptr<TcpChannel>>& channels)
    : executor_(executor), clock_(clock), channels_(channels), timer_(clock.make_timer(executor)) {}

Task<void> ChannelTurns::begin(const TcpChannel& channel) {
  const TcpChannel& express = *channels_.back();
  if (&channel == &express || express.live() == 0 || !others_wait()) co_return;
  fall_silent();
  Event over(executor_);
  waiting_.push_back(&over);
  co_await over.wait();
}

void ChannelTurns::end(const TcpChannel& channel) noexcept {
  if (silent_ && &channel == channels_.back().get() && express_has_had_its_part()) release();
}

void ChannelTurns::release() noexcept {
  if (!std::exchange(silent_, false)) return;
  timer_->cancel();
  for (Event* const over : std::exchange(waiting_, {})) over->notify();
}

bool ChannelTurns::others_wait() const noexcept {
  // A read that is alone would only stand in its own way.
  Sharing sharing;
  for (const auto& channel : channels_) channel->look(sharing);
  return sharing.others;
}

bool ChannelTurns::express_has_had_its_part() const noexcept {
  const TcpChannel& express = *channels_.back();
  return express.live() == 0 ||
         express.received() - silent_since_ >= (channels_.size() - 1) * kTurnBytes;
}

void ChannelTurns::fall_silent() {
  if (std::exchange(silent_, true)) return;
  silent_since_ = channels_.back()->received();
  timer_->wait_until(clock_.now() + kMostSilence, [this](bool expired) {
    if (expired) release();
  });
}

}  // namespace corail
