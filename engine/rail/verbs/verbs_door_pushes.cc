// How a verbs door writes what its requesters order.
#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/base/check.h"
#include "engine/exec/shielded.h"
#include "engine/rail/verbs/door_under_way.h"
#include "engine/rail/verbs/verbs_rail_door.h"

namespace corail {
namespace {

/// Devices' keys have 32 bits.
constexpr std::uint64_t kMaxWriteKey = std::numeric_limits<std::uint32_t>::max();

Error refused_order(const PushOrder& order, std::string_view why) {
  return Error(Errc::kRefused, Stage::kServe,
               fmt::format("order {} of queue pair {}: {}", order.number, order.channel, why));
}

/// [address, address + length) within [base, base + size), without overflow.
bool lies_within(std::uint64_t address, std::uint64_t length, std::uint64_t base,
                 std::uint64_t size) noexcept {
  const bool inside = address >= base && length <= size && address - base <= size - length;
  return inside && base <= std::numeric_limits<std::uint64_t>::max() - size;
}

}  // namespace

/// Every number in the order is remote input (I5); what its key is for is the requester's word, and
/// its device's to enforce (I4).
Result<void> VerbsRailDoor::check_order(const PushOrder& order, std::uint64_t bytes) const {
  if (order.length == 0 || order.length > port_->max_slice_bytes()) {
    return refused_order(order, fmt::format("{} bytes, possible are 1 to {}", order.length,
                                            port_->max_slice_bytes()));
  }
  if (order.write_key > kMaxWriteKey) {
    return refused_order(order, fmt::format("{:#x} is no key of an RDMA device", order.write_key));
  }
  if (!lies_within(order.address, order.length, order.key_base, order.key_length)) {
    return refused_order(order, "the key is not for all of the memory that it is to be written to");
  }
  if (order.length != bytes) {
    return Error(
        Errc::kInvalidArgument, Stage::kServe,
        fmt::format("{} bytes were ordered and {} are to be written", order.length, bytes));
  }
  return ok_result();
}

std::shared_ptr<ServedPair> VerbsRailDoor::pair_of(SessionId session,
                                                   const PushOrder& order) const {
  const auto found = sessions_.find(session);
  if (found == sessions_.end()) return nullptr;
  for (const auto& [key, served] : found->second) {
    if (served.pair != nullptr && served.pair->number == order.channel) return served.pair;
  }
  return nullptr;
}

Task<Result<void>> VerbsRailDoor::push(SessionId session, PushOrder order, PinnedBytes bytes,
                                       std::function<bool()> cancelled) {
  auto pair = pair_of(session, order);
  if (pair == nullptr) co_return refused_order(order, "the session has no such queue pair here");
  auto checked = check_order(order, bytes.bytes.size());
  if (!checked.ok()) co_return checked;
  if (!pair->orders.take(order.number)) {
    co_return refused_order(order, "its number was taken already, or is too old");
  }
  const UnderWay under_way(*this);
  // The device has its parts, whatever becomes of the caller.
  auto served =
      co_await shielded(serve(std::move(pair), order, std::move(bytes), std::move(cancelled)));
  co_return served;
}

/// The pin goes with this frame, once no part is posted any more (I6); whoever waits for the orders
/// of a queue pair finds it gone, because it goes before the order does.
Task<Result<void>> VerbsRailDoor::serve(std::shared_ptr<ServedPair> pair, PushOrder order,
                                        PinnedBytes bytes, std::function<bool()> cancelled) {
  ServedPush push(std::move(pair), executor_);
  auto written = co_await write_parts(push, order, bytes.bytes, cancelled);
  while (push.under_way() > 0) co_await push.wait();
  bytes.pin.reset();
  // Whatever else ended it: of a part that failed nobody knows whether it is still on its way.
  if (push.failed()) co_return Error(*push.pair().lost);
  co_return written;
}

Task<Result<void>> VerbsRailDoor::write_parts(ServedPush& push, const PushOrder& order,
                                              std::span<const std::byte> bytes,
                                              const std::function<bool()>& cancelled) {
  const std::size_t at_a_time = std::max<std::size_t>(1, port_->sizes().requests / kPartsUnderWay);
  std::uint64_t written = 0;
  while (written < bytes.size()) {
    if (push.pair().lost) co_return Error(*push.pair().lost);
    if (cancelled && cancelled()) {
      co_return Error(Errc::kCancelled, Stage::kServe, "the read of the order was given up");
    }
    const bool may = push.take_turn(at_a_time) && push.under_way() < kPartsUnderWay;
    if (may) {
      std::uint64_t length = 0;
      auto posted = post_part(push, order, written, bytes.subspan(written), length);
      if (!posted.ok()) co_return std::move(posted).error();
      written += length;
      if (*posted) continue;
    }
    co_await push.wait();
  }
  co_return ok_result();
}

/// Posts the beginning of `rest`, `length` bytes of it. False: the port's completion queue has no
/// room now.
Result<bool> VerbsRailDoor::post_part(ServedPush& push, const PushOrder& order,
                                      std::uint64_t written, std::span<const std::byte> rest,
                                      std::uint64_t& length) {
  WriteWork work;
  // A part lies in one registration here, and the order under one key there.
  work.piece = port_->memory()->find_source(rest);
  if (work.piece.length == 0) {
    return Error(Errc::kInvalidArgument, Stage::kServe,
                 "the bytes to write are not registered with the rail's device");
  }
  const std::uint64_t most = std::min(kPushPartBytes, port_->max_slice_bytes());
  work.piece.length = static_cast<std::uint32_t>(std::min<std::uint64_t>(work.piece.length, most));
  const bool last = work.piece.length == rest.size();
  VerbsRequest request;
  request.kind = VerbsRequestKind::kWrite;
  request.owner = this;
  request.push = &push;
  const auto key = port_->requests().insert(request);
  if (!key) {
    starved_ = true;
    port_->wait_for_room(*this);
    return false;
  }
  ServedPair& pair = push.pair();
  work.request = key->packed();
  work.remote_address = order.address + written;
  work.remote_key = static_cast<std::uint32_t>(order.write_key);
  // Each asks for a completion, because any of them may be the last: the order may be given up.
  work.signalled = true;
  if (last) work.immediate = static_cast<std::uint32_t>(order.number);
  // Accounted for before it is posted, because its completion may come at once.
  pair.account.posted(work.request, work.signalled);
  push.posted();
  auto posted = pair.pair->write(work);
  if (posted.ok()) {
    length = work.piece.length;
    return true;
  }
  pair.account.refused(work.request);
  settle(*key);
  push.fail();
  stop(pair, Error(Errc::kRailFailed, Stage::kServe, posted.error().detail()));
  [[maybe_unused]] const auto failed = pair.pair->fail();
  return std::move(posted).error();
}

void VerbsRailDoor::settle(OpKey key) {
  const VerbsRequest* const found = port_->requests().find(key);
  CORAIL_CHECK(found != nullptr, "a posted part is in its port's table");
  ServedPush& push = *found->push;
  port_->release(key);
  push.ended();
}

/// Nothing more is posted on it; what is posted ends by itself, or with the queue pair.
void VerbsRailDoor::stop(ServedPair& pair, Error why) {
  if (!pair.lost) pair.lost = std::move(why);
  for (ServedPush* const push : pair.pushes) push->notify();
}

/// It is destroyed: the device sends nothing more.
void VerbsRailDoor::end_with_pair(ServedPair& pair) {
  // Its last completions may still be in the queue.
  port_->drain();
  pair.pair.reset();
  for (const std::uint64_t left : pair.account.abandon()) {
    const OpKey key = OpKey::unpack(left);
    port_->requests().find(key)->push->fail();
    settle(key);
  }
}

void VerbsRailDoor::on_completion(OpKey key, const Completion& completion) noexcept {
  ServedPush& push = *port_->requests().find(key)->push;
  ServedPair& pair = push.pair();
  const auto ended = pair.account.completed(completion);
  CORAIL_CHECK(ended.has_value(), "a part that is in the table is in its queue pair's account");
  for (const std::uint64_t earlier : ended->succeeded) settle(OpKey::unpack(earlier));
  if (blame_of(completion.status) != Blame::kNone) {
    push.fail();
    // Whatever the reason, the queue pair is in ERR, and the requester has to greet anew.
    stop(pair,
         Error(Errc::kConnectionLost, Stage::kServe, error_of(completion, port_->name()).detail()));
  }
  settle(key);
}

void VerbsRailDoor::deliver() noexcept {
  if (!std::exchange(starved_, false)) return;
  for (const auto& [session, pairs] : sessions_) {
    for (const auto& [key, served] : pairs) {
      if (served.pair == nullptr) continue;
      for (ServedPush* const push : served.pair->pushes) push->notify();
    }
  }
}

/// What is posted ends with its queue pair, which its session does.
void VerbsRailDoor::on_broken(const Error& why) noexcept {
  for (const auto& [session, pairs] : sessions_) {
    for (const auto& [key, served] : pairs) {
      if (served.pair != nullptr) stop(*served.pair, why);
    }
  }
}

}  // namespace corail
