// How the owner is told to write slices of a verbs rail, and what ends them.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/exec/run_on.h"
#include "engine/exec/shielded.h"
#include "engine/rail/verbs/control_calls.h"
#include "engine/rail/verbs/verbs_transport.h"

namespace corail {
namespace {

/// Whether an order that failed so may still be written. That nothing was heard in time is no
/// answer, whatever else it is.
bool leaves_open(const Error& error) noexcept {
  return error.error_class() == ErrorClass::kTransport || error.code() == Errc::kDeadline ||
         error.code() == Errc::kStuck;
}

}  // namespace

/// As many RECVs as the queue pair has room for, and the port's completion queue.
void VerbsTransport::post_receives(VerbsChannel& channel) {
  if (!capabilities_.pushes) return;
  while (channel.ready() && channel.receives.size() < port_->sizes().receives) {
    VerbsRequest request;
    request.kind = VerbsRequestKind::kReceive;
    request.owner = this;
    request.channel = channel.index;
    const auto key = port_->requests().insert(request);
    if (!key) {
      port_->wait_for_room(*this);
      return;
    }
    auto posted = channel.pair->receive(key->packed());
    if (!posted.ok()) {
      port_->release(*key);
      distrust(channel, std::move(posted).error());
      return;
    }
    channel.receives.push_back(*key);
  }
}

/// Orders what waits, as far as there are RECVs that nothing uses yet.
void VerbsTransport::order_waiting() {
  for (const auto& channel : channels_) post_receives(*channel);
  while (!waiting_orders_.empty() && usable()) {
    VerbsChannel* least = nullptr;
    for (const auto& channel : channels_) {
      if (!channel->takes_orders()) continue;
      if (least == nullptr || channel->bytes < least->bytes) least = channel.get();
    }
    if (least == nullptr) return;
    const VerbsRequest request = waiting_orders_.front();
    waiting_orders_.pop_front();
    order(*least, request);
  }
}

void VerbsTransport::order(VerbsChannel& channel, const VerbsRequest& request) {
  const Slice& slice = request.slice;
  const WriteKey* const key = grants_.find(*request.sink, slice.destination, slice.length);
  if (key == nullptr) {
    end(request, Error(Errc::kInvalidArgument, Stage::kSubmit,
                       "the owner was not let write to the destination, or not all of it"));
    return;
  }
  OrderedSlice ordered;
  ordered.number = ++channel.last_order;
  ordered.slice = slice;
  ordered.sink = request.sink;
  channel.ordered.push_back(std::move(ordered));
  channel.bytes += slice.length;
  PushOrder order;
  order.context = request.context;
  order.number = channel.last_order;
  order.channel = channel.peer_number;
  order.source_offset = slice.remote_offset;
  order.length = slice.length;
  order.address = reinterpret_cast<std::uint64_t>(slice.destination);
  order.write_key = key->registration->remote();
  order.key_base = key->base;
  order.key_length = key->length;
  remote_.courier->order(order, [self = self_, index = channel.index,
                                 number = order.number](const Result<PushReceipt>& receipt) {
    if (*self != nullptr) (*self)->answered(index, number, receipt);
  });
}

void VerbsTransport::answered(std::uint32_t index, std::uint64_t number,
                              const Result<PushReceipt>& receipt) {
  VerbsChannel& channel = *channels_[index];
  const auto found =
      std::find_if(channel.ordered.begin(), channel.ordered.end(),
                   [number](const OrderedSlice& ordered) { return ordered.number == number; });
  // It went with its queue pair.
  if (found == channel.ordered.end()) return;
  const auto which = static_cast<std::size_t>(found - channel.ordered.begin());
  if (!receipt.ok() && leaves_open(receipt.error())) {
    // What it has posted may still be on its way, so that only a fence makes sure.
    Error why(
        Errc::kConnectionLost, Stage::kWait,
        fmt::format("it is not known what the owner still writes: {}", receipt.error().detail()));
    found->failure = why;
    give_up_channel(channel, ChannelFault::kPath);
    lose(std::move(why));
  } else if (!receipt.ok()) {
    end_ordered(channel, which, receipt.error());
  } else if (receipt->bytes != found->slice.length) {
    distrust(channel, Error(Errc::kProtocol, Stage::kWait,
                            fmt::format("the owner has written {} bytes where {} were ordered",
                                        receipt->bytes, found->slice.length)));
  } else {
    found->answered = true;
    if (found->landed && !found->failure) end_ordered(channel, which, ok_result());
  }
  deliver_soon();
}

void VerbsTransport::on_receive(OpKey key, const Completion& completion) {
  VerbsChannel& channel = *channels_[port_->requests().find(key)->channel];
  port_->release(key);
  std::erase(channel.receives, key);
  if (blame_of(completion.status) != Blame::kNone) {
    channel.receive_failed = true;
    blame_for_failed_receive(channel);
    return;
  }
  const auto found = std::find_if(
      channel.ordered.begin(), channel.ordered.end(), [&completion](const OrderedSlice& ordered) {
        return completion.immediate && !ordered.landed &&
               static_cast<std::uint32_t>(ordered.number) == *completion.immediate;
      });
  if (found == channel.ordered.end()) {
    // Whatever it has written, nobody asked for that (I5).
    distrust(channel, Error(Errc::kProtocol, Stage::kWait,
                            fmt::format("the peer of {} tells of an order that it was not given",
                                        port_->name())));
    return;
  }
  found->landed = true;
  if (!found->answered || found->failure) return;
  end_ordered(channel, static_cast<std::size_t>(found - channel.ordered.begin()), ok_result());
}

/// A RECV fails with its queue pair. If a request of ours is to blame its completion says so, but
/// may come later; else nobody here gave the queue pair up.
void VerbsTransport::blame_for_failed_receive(VerbsChannel& channel) {
  if (channel.fault != ChannelFault::kNone || channel.account.outstanding() > 0) return;
  give_up_channel(channel, ChannelFault::kPath);
  lose(Error(Errc::kRailFailed, Stage::kWait,
             fmt::format("{} flushed what the peer was to write although nobody gave it up; check "
                         "that the port is up, and the peer's log",
                         port_->name())));
}

/// Nothing that comes over the channel is believed any more, and the rail is lost.
void VerbsTransport::distrust(VerbsChannel& channel, Error why) {
  for (OrderedSlice& ordered : channel.ordered) {
    if (!ordered.failure) ordered.failure = why;
  }
  give_up_channel(channel, ChannelFault::kPath);
  lose(std::move(why));
}

void VerbsTransport::end_ordered(VerbsChannel& channel, std::size_t which, Result<void> outcome) {
  const auto place = channel.ordered.begin() + static_cast<std::ptrdiff_t>(which);
  VerbsRequest request;
  request.slice = place->slice;
  request.sink = place->sink;
  channel.bytes -= request.slice.length;
  channel.ordered.erase(place);
  end(request, std::move(outcome));
}

/// Its queue pair is gone: nothing writes to the destinations of its orders any more.
void VerbsTransport::end_with_pair(VerbsChannel& channel) {
  for (const OpKey key : std::exchange(channel.receives, {})) port_->release(key);
  while (!channel.ordered.empty()) {
    Error why(Errc::kFlushed, Stage::kWait, "its queue pair was given up");
    if (channel.ordered.front().failure) why = *channel.ordered.front().failure;
    end_ordered(channel, 0, std::move(why));
  }
}

Task<Result<void>> VerbsTransport::grant(SliceSink& sink, std::vector<std::span<std::byte>> memory,
                                         TimePoint deadline) {
  // Keys that are made belong to somebody, whatever happens to the caller.
  auto granted = co_await shielded(grant_keys(sink, std::move(memory), deadline));
  co_return granted;
}

Task<Result<void>> VerbsTransport::grant_keys(SliceSink& sink,
                                              std::vector<std::span<std::byte>> memory,
                                              TimePoint deadline) {
  // Without orders nobody writes.
  if (!capabilities_.pushes) co_return ok_result();
  auto made = co_await run_on(port_->control_executor(),
                              make_write_keys(port_->memory().get(), std::move(memory)));
  if (!made.ok()) co_return std::move(made).error();
  WriteKeys keys = std::move(made).value();
  Result<void> granted = ok_result();
  if (phase_ == Phase::kClosing || phase_ == Phase::kClosed) {
    granted = Error(Errc::kClosed, Stage::kSetup, "the rail was closed");
  } else if (clock_.now() >= deadline) {
    granted = Error(Errc::kDeadline, Stage::kSetup,
                    fmt::format("{} took all the time that there was to register memory; read less "
                                "at once, or use huge pages",
                                port_->name()));
  }
  if (granted.ok()) {
    grants_.add(sink, std::move(keys));
  } else {
    co_await run_on(port_->control_executor(), drop_write_keys(std::move(keys)));
  }
  co_return granted;
}

Task<void> VerbsTransport::revoke(SliceSink& sink) {
  auto keys = grants_.take(sink);
  if (keys.empty()) co_return;
  co_await shielded(run_on(port_->control_executor(), drop_write_keys(std::move(keys))));
}

}  // namespace corail
