// How the outcomes of a verbs rail's slices, and its loss, reach those above.
#include <fmt/core.h>

#include <algorithm>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <utility>

#include "engine/rail/verbs/transport_waiter.h"

namespace corail {

void VerbsTransport::lose(Error why) {
  if (lost_) return;
  lost_ = std::move(why);
  for (const VerbsRequest& request : std::exchange(waiting_, {})) end(request, unposted());
  for (const VerbsRequest& request : std::exchange(waiting_orders_, {})) end(request, unposted());
  deliver_soon();
}

/// What becomes of slices that a lost rail has not posted: whoever refused the rail refused none of
/// them, and another rail may take them.
Error VerbsTransport::unposted() const {
  return Error(Errc::kRailFailed, Stage::kSubmit,
               lost_ ? lost_->detail() : std::string("the rail is not connected"));
}

void VerbsTransport::tell_lost() {
  if (lost_ && phase_ == Phase::kConnected && !std::exchange(lost_told_, true) && when_lost_) {
    when_lost_(*lost_);
  }
}

void VerbsTransport::on_broken(const Error& why) noexcept {
  for (const auto& channel : channels_) channel->fault = ChannelFault::kPath;
  lose(why);
}

void VerbsTransport::deliver() noexcept {
  // Outcomes know better whose fault it was, unless it was not the path's.
  if (lost_ && lost_->error_class() != ErrorClass::kTransport) tell_lost();
  while (!ended_.empty()) {
    Ended ended = std::move(ended_.front());
    ended_.pop_front();
    ended.sink->on_outcome(ended.slice, std::move(ended.outcome));
  }
  tell_lost();
  look_after_channels();
  pump();
  for (Waiter* const waiter : waiters_) waiter->notify();
}

void VerbsTransport::deliver_soon() {
  if (std::exchange(delivering_later_, true)) return;
  scope_.spawn(deliver_later());
}

Task<void> VerbsTransport::deliver_later() {
  // post() never calls a sink, and the spawner may start this at once.
  co_await asio::post(executor_, asio::use_awaitable);
  delivering_later_ = false;
  deliver();
}

std::size_t VerbsTransport::undone(const SliceSink& sink) const {
  const auto of_sink = [&sink](const auto& entry) { return entry.sink == &sink; };
  auto count = std::count_if(waiting_.begin(), waiting_.end(), of_sink) +
               std::count_if(waiting_orders_.begin(), waiting_orders_.end(), of_sink) +
               std::count_if(ended_.begin(), ended_.end(), of_sink);
  for (const auto& channel : channels_) {
    count += std::count_if(channel->ordered.begin(), channel->ordered.end(), of_sink);
  }
  for (const OpKey key : posted_) {
    if (port_->requests().find(key)->sink == &sink) ++count;
  }
  return static_cast<std::size_t>(count);
}

Task<Result<void>> VerbsTransport::fence(SliceSink& sink, TimePoint deadline) {
  const Error given_up(Errc::kFlushed, Stage::kWait, "given up by a fence");
  for (std::deque<VerbsRequest>* const waiting : {&waiting_, &waiting_orders_}) {
    for (std::size_t left = waiting->size(); left > 0; --left) {
      const VerbsRequest request = waiting->front();
      waiting->pop_front();
      if (request.sink == &sink) {
        end(request, given_up);
      } else {
        waiting->push_back(request);
      }
    }
  }
  for (const OpKey key : posted_) {
    VerbsRequest& request = *port_->requests().find(key);
    if (request.sink != &sink) continue;
    request.fenced = true;
    VerbsChannel& channel = *channels_[request.channel];
    give_up_channel(channel, ChannelFault::kFence);
  }
  for (const auto& channel : channels_) {
    const bool has = std::any_of(channel->ordered.begin(), channel->ordered.end(),
                                 [&sink](const auto& ordered) { return ordered.sink == &sink; });
    if (has) give_up_channel(*channel, ChannelFault::kFence);
  }
  deliver();
  Waiter waiter(*this, deadline);
  while (undone(sink) > 0 && !waiter.expired()) co_await waiter.wait();
  if (undone(sink) == 0) co_return ok_result();
  co_return Error(Errc::kStuck, Stage::kWait,
                  fmt::format("{} has not flushed what was given up; the rail has to be closed",
                              port_->name()));
}

}  // namespace corail
