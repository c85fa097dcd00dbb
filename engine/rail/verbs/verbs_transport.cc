// How slices are posted to a verbs rail, and what their completions mean.
#include "engine/rail/verbs/verbs_transport.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "engine/base/check.h"

namespace corail {
namespace {

/// How often a slice that others' faults flush is posted again, at most (I8).
constexpr std::uint32_t kMaxReposts = 8;
/// Devices' keys have 32 bits. Cut, one could name other memory (I5).
constexpr std::uint64_t kMaxRemoteKey = std::numeric_limits<std::uint32_t>::max();

Capabilities capabilities_of(const VerbsPort& port) {
  Capabilities capabilities;
  // Memory in short registrations lets a slice cross the border of one, but not of many.
  const std::uint64_t pieces = std::max<std::uint64_t>(1, port.sizes().segments - 1);
  const std::uint64_t piece = port.memory()->piece_bytes();
  const std::uint64_t most = port.max_slice_bytes();
  capabilities.max_slice_bytes = piece > most / pieces ? most : std::min(most, pieces * piece);
  capabilities.max_slices = port.options().channels * port.sizes().requests;
  capabilities.needs_registration = true;
  return capabilities;
}

}  // namespace

VerbsTransport::VerbsTransport(std::shared_ptr<VerbsPort> port, Clock& clock)
    : port_(std::move(port)),
      clock_(clock),
      executor_(port_->asio_executor()),
      capabilities_(capabilities_of(*port_)),
      scope_(executor_),
      connect_ended_(executor_),
      self_(std::make_shared<VerbsTransport*>(this)) {
  port_->add_owner(*this);
}

VerbsTransport::~VerbsTransport() {
  CORAIL_CHECK(phase_ == Phase::kNew || phase_ == Phase::kClosed,
               "a connected rail was destroyed without an awaited close()");
  *self_ = nullptr;
  port_->remove_owner(*this);
}

/// Slices that are posted, ordered, or wait for it.
std::size_t VerbsTransport::held() const {
  std::size_t count = waiting_.size() + waiting_orders_.size() + posted_.size();
  for (const auto& channel : channels_) count += channel->ordered.size();
  return count;
}

void VerbsTransport::end(const VerbsRequest& request, Result<void> outcome) {
  Ended ended;
  ended.slice = request.slice;
  ended.sink = request.sink;
  ended.outcome = std::move(outcome);
  ended_.push_back(std::move(ended));
}

void VerbsTransport::post(ReadContext context, std::span<const Slice> slices, SliceSink& sink) {
  for (const Slice& slice : slices) {
    VerbsRequest request;
    request.slice = slice;
    request.sink = &sink;
    request.owner = this;
    request.context = context;
    if (!usable()) {
      end(request, unposted());
    } else if (slice.pushed && !capabilities_.pushes) {
      end(request, Error(Errc::kInvalidArgument, Stage::kSubmit,
                         "nobody carries the rail's orders to the owner; read what is in memory"));
    } else if (!slice.pushed && slice.remote_key > kMaxRemoteKey) {
      end(request, Error(Errc::kInvalidArgument, Stage::kSubmit,
                         fmt::format("{:#x} is no key of an RDMA device; ask the holder again",
                                     slice.remote_key)));
    } else if (slice.length == 0 || slice.length > capabilities_.max_slice_bytes) {
      end(request, Error(Errc::kInvalidArgument, Stage::kSubmit,
                         fmt::format("a slice of {} bytes, allowed are 1 to {}", slice.length,
                                     capabilities_.max_slice_bytes)));
    } else if (held() >= capabilities_.max_slices) {
      end(request,
          Error(Errc::kBusy, Stage::kSubmit,
                fmt::format("more than {} slices posted to one rail", capabilities_.max_slices)));
    } else {
      (slice.pushed ? waiting_orders_ : waiting_).push_back(request);
    }
  }
  pump();
}

/// Posts what waits. Its sinks hear later of what cannot be posted, because the caller may be one
/// of them.
void VerbsTransport::pump() {
  post_waiting();
  order_waiting();
  if (!ended_.empty()) deliver_soon();
}

void VerbsTransport::post_waiting() {
  // As much for each channel as for the others, in as few calls as possible.
  const auto ready = static_cast<std::size_t>(
      std::count_if(channels_.begin(), channels_.end(), [](const auto& c) { return c->ready(); }));
  if (ready == 0) return;
  const std::size_t share = (waiting_.size() + ready - 1) / ready;
  while (!waiting_.empty() && usable()) {
    VerbsChannel* least = nullptr;
    for (const auto& channel : channels_) {
      const bool room = channel->account.outstanding() < port_->sizes().requests;
      if (!channel->ready() || !room) continue;
      if (least == nullptr || channel->bytes < least->bytes) least = channel.get();
    }
    if (least == nullptr || !post_chain(*least, share)) return;
  }
}

/// Posts waiting slices as one chain, at most so many. False: no more can be posted now.
bool VerbsTransport::post_chain(VerbsChannel& channel, std::size_t share) {
  const std::size_t room = port_->sizes().requests - channel.account.outstanding();
  const std::size_t most = std::min({room, share, QueuePair::kChain});
  std::array<ReadWork, QueuePair::kChain> chain;
  std::array<std::array<LocalPiece, kWishedSegments>, QueuePair::kChain> pieces;
  std::array<OpKey, QueuePair::kChain> keys;
  std::size_t count = 0;
  OpTable<VerbsRequest>& table = port_->requests();
  while (count < most && !waiting_.empty() && table.size() < table.capacity()) {
    VerbsRequest request = waiting_.front();
    waiting_.pop_front();
    const std::size_t found =
        port_->memory()->find(request.slice.destination, request.slice.length, pieces[count]);
    if (found == 0 || found > port_->sizes().segments) {
      end(request, Error(Errc::kInvalidArgument, Stage::kSubmit,
                         "the destination is not registered with the rail's device"));
      continue;
    }
    request.channel = channel.index;
    const auto key = table.insert(request);
    CORAIL_CHECK(key.has_value(), "there was room in the port's table");
    ReadWork& work = chain[count];
    work.request = key->packed();
    work.remote_address = request.slice.remote_offset;
    work.remote_key = static_cast<std::uint32_t>(request.slice.remote_key);
    work.pieces = std::span(pieces[count].data(), found);
    keys[count++] = *key;
  }
  // Accounted for before they are posted, because their completions may come at once.
  for (std::size_t i = 0; i < count; ++i) {
    chain[i].signalled = channel.account.must_signal(i + 1 == count);
    channel.account.posted(chain[i].request, chain[i].signalled);
    channel.bytes += table.find(keys[i])->slice.length;
    posted_.push_back(keys[i]);
  }
  // The port's other rails have the rest of its completion queue; their ends make room.
  const bool full = !waiting_.empty() && table.size() == table.capacity();
  if (full) port_->wait_for_room(*this);
  if (count == 0) return !waiting_.empty() && !full;
  Error why;
  const std::size_t taken = channel.pair->post(std::span(chain.data(), count), why);
  if (taken == count) return !full;
  for (std::size_t i = count; i-- > taken;) {
    channel.account.refused(chain[i].request);
    settle(keys[i], why);
  }
  channel.fault = ChannelFault::kPath;
  [[maybe_unused]] const auto failed = channel.pair->fail();
  lose(std::move(why));
  return false;
}

/// Ends a posted request: out of every table, on the way to its sink.
void VerbsTransport::settle(OpKey key, Result<void> outcome) {
  const VerbsRequest* const found = port_->requests().find(key);
  CORAIL_CHECK(found != nullptr, "a posted request is in its port's table");
  const VerbsRequest request = *found;
  port_->release(key);
  std::erase(posted_, key);
  channels_[request.channel]->bytes -= request.slice.length;
  end(request, std::move(outcome));
}

void VerbsTransport::on_completion(OpKey key, const Completion& completion) noexcept {
  const VerbsRequest& told = *port_->requests().find(key);
  VerbsChannel& channel = *channels_[told.channel];
  if (told.kind == VerbsRequestKind::kReceive) {
    on_receive(key, completion);
    return;
  }
  const auto ended = channel.account.completed(completion);
  CORAIL_CHECK(ended.has_value(), "a request that is in the table is in its channel's account");
  for (const std::uint64_t silent : ended->succeeded) settle(OpKey::unpack(silent), ok_result());
  if (blame_of(completion.status) == Blame::kNone) {
    settle(key, ok_result());
  } else {
    const VerbsRequest request = *port_->requests().find(key);
    settle_failed(channel, request, completion);
    port_->release(key);
    std::erase(posted_, key);
    channel.bytes -= request.slice.length;
  }
  if (channel.receive_failed) blame_for_failed_receive(channel);
}

/// A failed or flushed request: to its sink, or once more to the device.
void VerbsTransport::settle_failed(VerbsChannel& channel, const VerbsRequest& request,
                                   const Completion& told) {
  const Blame blame = blame_of(told.status);
  Error error = error_of(told, port_->name());
  if (blame == Blame::kCaller || blame == Blame::kPeer) {
    if (channel.fault == ChannelFault::kNone) channel.fault = ChannelFault::kRefused;
    end(request, std::move(error));
    return;
  }
  const bool ours =
      channel.fault == ChannelFault::kFence || channel.fault == ChannelFault::kRefused;
  if (blame == Blame::kPath || !ours) {
    // A flush that nobody here asked for is the path's fault, too: a port that went down tells no
    // more than that.
    channel.fault = ChannelFault::kPath;
    Error why(Errc::kRailFailed, Stage::kWait,
              blame == Blame::kFlushed
                  ? fmt::format("{} flushed what was posted although nobody gave it up; check that "
                                "the port is up",
                                port_->name())
                  : error.detail());
    end(request, std::move(error));
    lose(std::move(why));
    return;
  }
  const bool again = usable() && !request.fenced && request.reposts < kMaxReposts;
  if (!again) {
    end(request, std::move(error));
    return;
  }
  VerbsRequest once_more = request;
  ++once_more.reposts;
  waiting_.push_back(once_more);
}

}  // namespace corail
