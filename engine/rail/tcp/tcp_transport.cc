#include "engine/rail/tcp/tcp_transport.h"

#include <fmt/core.h>

#include <algorithm>
#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>
#include <utility>

#include "engine/base/check.h"
#include "engine/exec/shielded.h"
#include "engine/rail/tcp/tcp_limits.h"

namespace corail {
namespace {

Capabilities capabilities_of(const TcpOptions& options) {
  Capabilities capabilities;
  capabilities.max_slice_bytes = kMaxReadBytes;
  capabilities.max_slices = options.max_slices;
  capabilities.reports_landing = true;
  capabilities.fence_is_local = true;
  capabilities.needs_registration = false;
  capabilities.pushes = true;
  return capabilities;
}

}  // namespace

TcpTransport::TcpTransport(asio::any_io_executor executor, Clock& clock, TcpOptions options)
    : executor_(executor),
      options_(std::move(options)),
      capabilities_(capabilities_of(options_)),
      opener_(executor, clock, options_),
      turns_(executor, clock, channels_),
      scope_(executor),
      connect_ended_(executor) {}

TcpTransport::~TcpTransport() {
  CORAIL_CHECK(phase_ == Phase::kNew || phase_ == Phase::kClosed,
               "a connected rail was destroyed without an awaited close()");
}

Task<Result<void>> TcpTransport::connect(RailEndpoint remote, TimePoint deadline) {
  if (phase_ != Phase::kNew) {
    co_return Error(Errc::kInvalidArgument, Stage::kConnect, "a rail connects once only");
  }
  const auto checked = check_options(options_);
  if (!checked.ok()) co_return checked.error();
  phase_ = Phase::kConnecting;
  courier_ = remote.courier;
  // A half-open set of channels has to be taken down whatever happens to the caller.
  auto opened = co_await shielded(open_channels(std::move(remote), deadline));
  if (phase_ == Phase::kConnecting) phase_ = opened.ok() ? Phase::kConnected : Phase::kClosed;
  connect_ended_.notify();
  co_return opened;
}

Task<Result<void>> TcpTransport::open_channels(RailEndpoint remote, TimePoint deadline) {
  std::vector<std::unique_ptr<TcpChannel>> opened;
  const std::uint32_t wanted = options_.channels + (options_.channels > 1 ? 1 : 0);
  while (opened.size() < wanted) {
    auto socket = co_await opener_.open(remote, deadline);
    if (!socket.ok()) co_return std::move(socket).error();
    opened.push_back(
        std::make_unique<TcpChannel>(std::move(socket).value(), executor_, options_, courier_));
  }
  if (phase_ != Phase::kConnecting) {
    co_return Error(Errc::kClosed, Stage::kConnect, "the rail was closed");
  }
  channels_ = std::move(opened);
  for (const auto& channel : channels_) {
    const auto ended = [this, ended = channel.get()] {
      if (phase_ != Phase::kClosed && lost_) lost_(ended->ended_by());
    };
    channel->start(scope_, ended, turns_);
  }
  co_return ok_result();
}

void TcpTransport::post(ReadContext context, std::span<const Slice> slices, SliceSink& sink) {
  const bool open = usable();
  for (const Slice& slice : slices) {
    if (!open) {
      reject(slice, sink, why_unusable());
    } else if (slice.length == 0 || slice.length > capabilities_.max_slice_bytes) {
      reject(slice, sink,
             Error(Errc::kInvalidArgument, Stage::kSubmit,
                   fmt::format("a slice of {} bytes, allowed are 1 to {}", slice.length,
                               capabilities_.max_slice_bytes)));
    } else if (live() >= capabilities_.max_slices) {
      reject(
          slice, sink,
          Error(Errc::kBusy, Stage::kSubmit,
                fmt::format("more than {} slices posted to one rail", capabilities_.max_slices)));
    } else if (slice.pushed && courier_ == nullptr) {
      reject(slice, sink,
             Error(Errc::kRefused, Stage::kSubmit,
                   "the peer takes no orders to write; read from its memory instead"));
    } else {
      PostedSlice posted;
      posted.slice = slice;
      posted.context = context;
      posted.sink = &sink;
      channel_for(slice, context).post(posted);
    }
  }
  for (const auto& channel : channels_) channel->flush_later();
}

void TcpTransport::flush() {
  for (const auto& channel : channels_) channel->flush();
}

Task<Result<void>> TcpTransport::fence(SliceSink& sink, TimePoint /*deadline*/) {
  // Every channel first: a sink that posts again from within its outcome must not have that flushed
  // too.
  std::vector<Slice> given_up;
  for (const auto& channel : channels_) channel->give_up(sink, given_up);
  std::vector<Rejected> rejected;
  for (Rejected& waiting : rejected_) {
    if (waiting.sink == &sink) rejected.push_back(std::move(waiting));
  }
  std::erase_if(rejected_, [&sink](const Rejected& waiting) { return waiting.sink == &sink; });
  for (const Slice& slice : given_up) {
    sink.on_outcome(slice, Error(Errc::kFlushed, Stage::kWait, "given up by a fence"));
  }
  for (Rejected& told : rejected) sink.on_outcome(told.slice, std::move(told.why));
  co_return ok_result();
}

Task<void> TcpTransport::close() {
  const bool connecting = phase_ == Phase::kConnecting;
  phase_ = Phase::kClosed;
  opener_.abort();
  if (connecting) co_await shielded(connect_ended_.wait());
  for (const auto& channel : channels_) {
    channel->end(Error(Errc::kFlushed, Stage::kClose, "the rail was closed"));
  }
  turns_.release();
  co_await shielded(scope_.join());
}

bool TcpTransport::usable() const noexcept {
  return phase_ == Phase::kConnected &&
         std::all_of(channels_.begin(), channels_.end(),
                     [](const auto& channel) { return channel->usable(); });
}

TcpChannel& TcpTransport::channel_for(const Slice& slice,
                                      const ReadContext& context) const noexcept {
  const auto express = channels_.end() - 1;
  // Looking at all that is posted takes microseconds, which only the few slices of small reads pay.
  if (slice.of_small_read && channels_.size() > 1 && has_others_than(context)) return **express;
  const auto least = std::min_element(
      channels_.begin(), channels_.size() == 1 ? channels_.end() : express,
      [](const auto& a, const auto& b) { return a->outstanding() < b->outstanding(); });
  return **least;
}

bool TcpTransport::has_others_than(const ReadContext& context) const noexcept {
  Sharing sharing;
  sharing.context = context;
  for (const auto& channel : channels_) channel->look(sharing);
  return sharing.others;
}

Error TcpTransport::why_unusable() const {
  const auto ended = std::find_if(channels_.begin(), channels_.end(),
                                  [](const auto& channel) { return !channel->usable(); });
  if (ended == channels_.end()) {
    return Error(Errc::kRailFailed, Stage::kSubmit, "the rail is not connected");
  }
  const Error& why = (*ended)->ended_by();
  // The peer's breach of the protocol stays that: no other rail should be asked instead.
  const bool path = why.error_class() == ErrorClass::kTransport;
  return Error(path ? Errc::kRailFailed : why.code(), Stage::kSubmit,
               fmt::format("the rail is not connected any more: {}", why.detail()))
      .on_peer(why.peer());
}

std::uint32_t TcpTransport::live() const noexcept {
  std::uint32_t sum = 0;
  for (const auto& channel : channels_) sum += channel->live();
  return sum;
}

void TcpTransport::reject(const Slice& slice, SliceSink& sink, Error why) {
  Rejected rejected;
  rejected.slice = slice;
  rejected.sink = &sink;
  rejected.why = std::move(why);
  rejected_.push_back(std::move(rejected));
  if (std::exchange(telling_, true)) return;
  scope_.spawn(tell_rejected());
}

Task<void> TcpTransport::tell_rejected() {
  while (!rejected_.empty()) {
    // The spawner may start this at once, but post() never calls a sink; and a sink that posts
    // again and again must not keep the thread.
    co_await asio::post(executor_, asio::use_awaitable);
    // One by one, because a fence from within takes what is its sink's.
    for (std::size_t left = rejected_.size(); left > 0 && !rejected_.empty(); --left) {
      Rejected next = std::move(rejected_.front());
      rejected_.pop_front();
      next.sink->on_outcome(next.slice, std::move(next.why));
    }
  }
  telling_ = false;
}

}  // namespace corail
