#include "engine/rail/tcp/tcp_channel.h"

#include <fmt/core.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "engine/rail/tcp/channel_opener.h"
#include "engine/rail/tcp/channel_turns.h"
#include "engine/rail/tcp/data_frame.h"
#include "engine/rail/tcp/tcp_limits.h"

namespace corail {

TcpChannel::TcpChannel(std::unique_ptr<DataSocket> socket, asio::any_io_executor executor,
                       const TcpOptions& options, std::shared_ptr<PushCourier> courier)
    : socket_(std::move(socket)),
      courier_(std::move(courier)),
      slices_(options.max_slices),
      reader_(slices_, options.receive_bytes),
      outbox_filled_(executor),
      self_(std::make_shared<TcpChannel*>(this)) {}

TcpChannel::~TcpChannel() { *self_ = nullptr; }

void TcpChannel::start(TaskScope& scope, std::function<void()> ended, ChannelTurns& turns) {
  ended_ = std::move(ended);
  scope.spawn(receive_replies(turns));
  scope.spawn(send_requests());
}

void TcpChannel::post(const PostedSlice& posted) {
  slices_.add(posted);
  start_waiting();
}

void TcpChannel::give_up(const SliceSink& sink, std::vector<Slice>& given_up) {
  for (const ReadContext& context : slices_.give_up(sink, given_up)) {
    Request cancel;
    cancel.kind = RequestKind::kCancel;
    cancel.read = context.read;
    cancel.epoch = context.epoch;
    request(cancel);
  }
  flush();
}

void TcpChannel::end(const Error& error) {
  if (!usable()) return;
  ended_by_ = error;
  socket_->close();
  outbox_filled_.notify();
  slices_.end_all(error);
  if (ended_) ended_();
}

void TcpChannel::start_waiting() {
  while (const auto started = slices_.start_next()) {
    const auto& [key, posted] = *started;
    if (posted.order != 0) {
      order(posted);
      continue;
    }
    Request read;
    read.op = key;
    read.region = posted.slice.region;
    read.offset = posted.slice.remote_offset;
    read.length = posted.slice.length;
    read.read = posted.context.read;
    read.epoch = posted.context.epoch;
    request(read);
  }
}

void TcpChannel::order(const PostedSlice& posted) {
  PushOrder order;
  order.context = posted.context;
  order.number = posted.order;
  order.channel = channel_name(*socket_);
  order.source_offset = posted.slice.remote_offset;
  order.length = posted.slice.length;
  courier_->order(order, [self = self_, number = posted.order](Result<PushReceipt> receipt) {
    if (*self != nullptr) (*self)->answered(number, std::move(receipt));
  });
}

void TcpChannel::answered(std::uint64_t order, Result<PushReceipt> receipt) {
  if (!receipt.ok()) {
    Error why = std::move(receipt).error();
    // Then nobody knows what the owner does. Whatever still comes goes nowhere, which is all the
    // fence that our own receiving needs.
    if (why.error_class() == ErrorClass::kTransport) {
      why = Error(Errc::kRailFailed, Stage::kWait,
                  "the order for a slice was not answered: " + why.detail());
    }
    receipt = std::move(why).at(Stage::kServe).on_peer(socket_->peer_name());
  }
  if (!slices_.answer(order, std::move(receipt))) return;
  start_waiting();
  flush();
}

void TcpChannel::request(const Request& request) {
  const RequestBytes bytes = encode(request);
  outbox_.insert(outbox_.end(), bytes.begin(), bytes.end());
}

void TcpChannel::flush_later() {
  if (!outbox_.empty()) outbox_filled_.notify();
}

void TcpChannel::flush() {
  if (outbox_.empty() || sending_ || !usable()) return;
  // A request is small and the socket nearly always takes it: no trip through the executor's queue,
  // in which what the other channels receive comes first.
  const iovec part{outbox_.data(), outbox_.size()};
  const Transferred moved = socket_->send(std::span(&part, 1));
  if (moved.state == Transferred::State::kSome) {
    outbox_.erase(outbox_.begin(), outbox_.begin() + static_cast<std::ptrdiff_t>(moved.bytes));
  }
  if (!outbox_.empty()) outbox_filled_.notify();
}

Task<void> TcpChannel::receive_replies(ChannelTurns& turns) {
  std::uint64_t left = kTurnBytes;
  while (usable()) {
    bool drained = true;
    const Transferred moved = socket_->receive(reader_.targets());
    if (moved.state == Transferred::State::kSome) {
      drained = moved.bytes < reader_.room();
      const auto advanced = reader_.advance(moved.bytes);
      if (!advanced.ok()) {
        end(Error(advanced.error()).on_peer(socket_->peer_name()));
        break;
      }
      start_waiting();
      flush();
      left -= std::min<std::uint64_t>(left, moved.bytes);
      if (!drained && left > 0) continue;
    } else if (moved.state != Transferred::State::kLater) {
      end(lost(moved));
      break;
    }
    turns.end(*this);
    left = kTurnBytes;
    if (drained) {
      co_await socket_->readable();
    } else {
      co_await socket_->yield();
    }
    co_await turns.begin(*this);
  }
  turns.end(*this);
}

Task<void> TcpChannel::send_requests() {
  std::vector<std::byte> sending;
  while (usable()) {
    if (outbox_.empty()) {
      co_await outbox_filled_.wait();
      continue;
    }
    sending.clear();
    sending.swap(outbox_);
    sending_ = true;
    const auto state = co_await socket_->send_all(std::span<const std::byte>(sending));
    // The receiving side may still find bytes that came before the loss, and then ends the channel
    // with the reason. Closing now would lose both.
    if (state != Transferred::State::kSome) break;
    sending_ = false;
  }
}

Error TcpChannel::lost(const Transferred& how) const {
  const std::string why = how.state == Transferred::State::kFailed
                              ? std::generic_category().message(how.error)
                              : std::string("closed by the holder");
  return Error(Errc::kConnectionLost, Stage::kWait,
               fmt::format("the data channel from {} was lost: {}; check that the holder runs and "
                           "that the path is up",
                           socket_->local_name(), why))
      .on_peer(socket_->peer_name());
}

}  // namespace corail
