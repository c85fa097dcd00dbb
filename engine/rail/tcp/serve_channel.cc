#include "engine/rail/tcp/serve_channel.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/log.h"
#include "engine/rail/tcp/tcp_limits.h"

namespace corail {

ServeChannel::ServeChannel(std::unique_ptr<DataSocket> socket, asio::any_io_executor executor,
                           Clock& clock, SessionId session, std::uint64_t name, LeaseGate& gate,
                           const TcpOptions& options, ServeLoad& load)
    : socket_(std::move(socket)),
      executor_(executor),
      session_(session),
      name_(name),
      gate_(gate),
      frame_bytes_(options.frame_bytes),
      load_(load),
      stall_time_(options.stall_time),
      clock_(clock),
      stall_timer_(clock.make_timer(executor)),
      scope_(executor),
      queue_changed_(executor),
      queue_(std::min(options.frame_bytes, kSharedTurnBytes)) {}

void ServeChannel::close() noexcept {
  socket_->close();
  queue_changed_.notify();
}

Task<void> ServeChannel::run() {
  const ChannelPrefaceAnswerBytes answer = encode(ChannelPrefaceAnswer());
  const auto state = co_await socket_->send_all(std::span(answer));
  if (state == Transferred::State::kSome) {
    scope_.spawn(read_requests());
    co_await send_replies();
  }
  close();
  co_await scope_.join();
  batch_.clear();
  queue_.clear();
  count_load();
  end_all_orders();
}

Task<void> ServeChannel::read_requests() {
  while (true) {
    iovec target{incoming_.data() + incoming_bytes_, incoming_.size() - incoming_bytes_};
    const Transferred moved = socket_->receive(std::span(&target, 1));
    if (moved.state == Transferred::State::kLater) {
      co_await socket_->readable();
      continue;
    }
    if (moved.state != Transferred::State::kSome) break;
    const auto taken = take(moved.bytes);
    if (!taken.ok()) {
      log_limited("data channel closed", LogLevel::kWarning, "data channel of {} closed: {}",
                  socket_->peer_name(), taken.error().detail());
      break;
    }
    // Whoever floods the channel with requests gets no more than its turn.
    co_await socket_->yield();
  }
  close();
}

Result<void> ServeChannel::take(std::size_t count) {
  incoming_bytes_ += count;
  std::size_t at = 0;
  while (incoming_bytes_ - at >= kRequestBytes) {
    const auto bytes = std::span(incoming_).subspan(at).first<kRequestBytes>();
    const auto request = decode_request(bytes);
    if (!request.ok()) return request.error();
    auto accepted = accept(*request);
    if (!accepted.ok()) return accepted;
    at += kRequestBytes;
  }
  std::copy(incoming_.begin() + static_cast<std::ptrdiff_t>(at),
            incoming_.begin() + static_cast<std::ptrdiff_t>(incoming_bytes_), incoming_.begin());
  incoming_bytes_ -= at;
  return ok_result();
}

Result<void> ServeChannel::accept(const Request& request) {
  if (request.kind == RequestKind::kCancel) {
    queue_.cancel(request);
    return ok_result();
  }
  if (queue_.size() >= kMaxQueuedReads + orders_.size()) {
    return Error(Errc::kProtocol, Stage::kServe,
                 fmt::format("more than {} READs are waiting", kMaxQueuedReads));
  }
  queue_.push(request);
  count_load();
  queue_changed_.notify();
  return ok_result();
}

Result<std::shared_ptr<ServedOrder>> ServeChannel::take_order(const PushOrder& order,
                                                              PinnedBytes bytes,
                                                              std::function<bool()> cancelled) {
  CORAIL_CHECK(bytes.bytes.size() == order.length, "an order is served with other bytes");
  if (!socket_->is_open()) {
    return Error(Errc::kConnectionLost, Stage::kServe, "the data channel of the order was lost");
  }
  if (orders_.size() >= kMaxQueuedReads) {
    return Error(Errc::kBusy, Stage::kServe,
                 fmt::format("more than {} orders wait on one data channel; ask for fewer at once",
                             kMaxQueuedReads));
  }
  // Last, because what is refused has not used its number.
  if (!order_numbers_.take(order.number)) {
    return Error(Errc::kRefused, Stage::kServe,
                 fmt::format("an order under number {:#x}, which was used before", order.number));
  }
  Request request;
  request.op = OpKey::unpack(order.number);
  request.length = order.length;
  request.read = order.context.read;
  request.epoch = order.context.epoch;
  auto served = std::make_shared<ServedOrder>(executor_, std::move(cancelled));
  orders_.push_back(served);
  queue_.push(request, std::move(bytes), served);
  count_load();
  queue_changed_.notify();
  return served;
}

Task<void> ServeChannel::send_replies() {
  while (socket_->is_open()) {
    fill_batch();
    if (batch_.empty()) {
      tell_ended_orders();
      co_await queue_changed_.wait();
      continue;
    }
    const bool sent = co_await send_batch();
    batch_.clear();
    if (!sent) break;
    tell_ended_orders();
    // The other channels have their turn, and a CANCEL that has arrived is seen.
    co_await socket_->yield();
  }
}

Task<bool> ServeChannel::send_batch() {
  const bool sent = co_await send_rest();
  if (std::exchange(watching_, false)) stall_timer_->cancel();
  co_return sent;
}

Task<bool> ServeChannel::send_rest() {
  while (!batch_.rest().empty()) {
    const Transferred moved = socket_->send(batch_.rest());
    if (moved.state == Transferred::State::kSome) {
      batch_.sent(moved.bytes);
      if (batch_.rest().empty()) break;
    } else if (moved.state != Transferred::State::kLater) {
      co_return false;
    }
    watch_for_stall();
    const bool open = co_await socket_->writable();
    if (!open) co_return false;
  }
  co_return true;
}

void ServeChannel::watch_for_stall() {
  // Once per batch, not per progress: a byte now and then would keep the memory as well.
  if (std::exchange(watching_, true)) return;
  stall_timer_->wait_until(clock_.now() + stall_time_, [this](bool expired) {
    // An expiry may have been on its way when the batch was through after all.
    if (!expired || !watching_) return;
    log_limited(
        "data channel stalled", LogLevel::kWarning,
        "data channel of {} closed: it did not receive {} bytes in {} ms; check that the requester "
        "still runs",
        socket_->peer_name(), batch_.payload_bytes(),
        std::chrono::duration_cast<std::chrono::milliseconds>(stall_time_).count());
    close();
  });
}

void ServeChannel::count_load() {
  const auto count = [](std::size_t& channels, bool& counted, bool now) {
    channels += static_cast<std::size_t>(now) - static_cast<std::size_t>(counted);
    counted = now;
  };
  count(load_.small, counted_small_, queue_.any_small());
  count(load_.large, counted_large_, queue_.any_large());
}

void ServeChannel::fill_batch() {
  const bool shared = load_.small > 0 && load_.large > 0;
  const std::uint64_t most = shared ? std::min(kSharedTurnBytes, frame_bytes_) : frame_bytes_;
  while (batch_.has_room() && batch_.payload_bytes() < most) {
    ServeQueue::Op* const op = queue_.current();
    if (op == nullptr) return;
    if (op->cancelled || (op->order != nullptr && op->order->cancelled())) {
      end_cancelled(*op);
    } else if (op->admitted || admit(*op)) {
      add_data(*op, most);
    }
    count_load();
  }
}

/// False where the gate refuses it; the requester is told.
bool ServeChannel::admit(ServeQueue::Op& op) {
  const Request& request = op.request;
  ReadContext context;
  context.read = request.read;
  context.epoch = request.epoch;
  auto admitted = gate_.admit(session_, context, request.region, request.offset, request.length);
  if (!admitted.ok()) {
    add_last(ReplyKind::kRefused, refusal_of(admitted.error().code()), request.op);
    return false;
  }
  CORAIL_CHECK(admitted->bytes.size() == request.length, "a gate admitted other bytes");
  op.bytes = std::move(admitted).value();
  op.admitted = true;
  return true;
}

void ServeChannel::add_data(ServeQueue::Op& op, std::uint64_t most) {
  const std::span<const std::byte> bytes = op.bytes.bytes;
  Reply reply;
  reply.kind = ReplyKind::kData;
  reply.op = op.request.op;
  reply.offset = op.sent;
  reply.length = std::min(bytes.size() - op.sent, most);
  batch_.add(reply, bytes.subspan(op.sent, reply.length), op.bytes.pin);
  op.sent += reply.length;
  if (op.sent == bytes.size()) {
    if (op.order != nullptr) op.order->result = ok_result();
    queue_.end(reply.length);
  } else {
    queue_.spend(reply.length);
  }
}

void ServeChannel::end_cancelled(ServeQueue::Op& op) {
  if (op.order == nullptr) {
    add_last(ReplyKind::kCancelled, Refusal::kNone, op.request.op);
    return;
  }
  // The requester learns of it from the answer to the order.
  op.order->result = Error(Errc::kCancelled, Stage::kServe, "the order was cancelled");
  queue_.end(0);
}

/// The batch is empty, so nothing of an order that has its result is pinned any more.
void ServeChannel::tell_ended_orders() {
  std::erase_if(orders_, [](const auto& order) {
    if (!order->result) return false;
    order->ended.notify();
    return true;
  });
}

/// Whatever was decided about those that are left: what they have in the batch was not sent.
void ServeChannel::end_all_orders() {
  for (const auto& order : orders_) {
    order->result = Error(Errc::kConnectionLost, Stage::kServe,
                          "the data channel was lost before the order's bytes were sent");
  }
  tell_ended_orders();
}

void ServeChannel::add_last(ReplyKind kind, Refusal refusal, OpKey op) {
  Reply reply;
  reply.kind = kind;
  reply.refusal = refusal;
  reply.op = op;
  batch_.add(reply, {}, Pin());
  queue_.end(0);
}

}  // namespace corail
