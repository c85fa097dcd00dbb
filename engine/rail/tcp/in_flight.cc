#include "engine/rail/tcp/in_flight.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/base/check.h"
#include "engine/rail/tcp/data_frame.h"

namespace corail {
namespace {

// The number of an order: a mark that no key of a READ has, how many orders there were before, and
// the slot. So numbers grow, and whoever brings one back need not be searched for.
constexpr std::uint64_t kOrderMark = std::uint64_t{1} << 63;
constexpr int kSlotBits = 16;
constexpr std::uint64_t kSlotMask = (std::uint64_t{1} << kSlotBits) - 1;
static_assert(kMaxQueuedReads <= kSlotMask, "every slot of a channel has a place in a number");

}  // namespace

void InFlight::add(const PostedSlice& posted) {
  waiting_.push_back(posted);
  outstanding_ += posted.slice.length;
  ++live_;
}

std::optional<std::pair<OpKey, PostedSlice>> InFlight::start_next() {
  if (waiting_.empty() || ops_.size() == ops_.capacity()) return std::nullopt;
  const PostedSlice next = waiting_.front();
  waiting_.pop_front();
  const auto key = ops_.insert(next);
  CORAIL_CHECK(key.has_value(), "a table with room took nothing");
  PostedSlice& started = *ops_.find(*key);
  if (started.slice.pushed) {
    started.order = kOrderMark | (++orders_ << kSlotBits) | key->slot;
    ordered_[key->slot] = *key;
  }
  return std::pair(*key, started);
}

OpKey InFlight::resolve(OpKey wire) noexcept {
  if (!was_ordered(wire)) return wire;
  const OpKey key = ordered_[wire.packed() & kSlotMask];
  const PostedSlice* const op = ops_.find(key);
  return op != nullptr && op->order == wire.packed() ? key : OpKey();
}

bool InFlight::was_ordered(OpKey wire) const noexcept {
  const std::uint64_t number = wire.packed();
  if ((number & kOrderMark) == 0 || (number & kSlotMask) >= ordered_.size()) return false;
  const std::uint64_t which = (number & ~kOrderMark) >> kSlotBits;
  return which > 0 && which <= orders_;
}

bool InFlight::answer(std::uint64_t order, Result<PushReceipt> receipt) noexcept {
  const OpKey key = resolve(OpKey::unpack(order));
  PostedSlice* const op = ops_.find(key);
  if (op == nullptr) return false;  // the channel has ended
  if (!receipt.ok()) {
    Error why = std::move(receipt).error();
    if (why.code() == Errc::kCancelled && op->cancelled) {
      why = Error(Errc::kFlushed, Stage::kWait,
                  "given up by the fence of another part of the same read");
    }
    end(key, std::move(why));
  } else if (receipt->bytes != op->slice.length) {
    end(key, Error(Errc::kProtocol, Stage::kWait,
                   fmt::format("the owner says that it has sent {} bytes where {} were ordered",
                               receipt->bytes, op->slice.length)));
  } else if (op->discard) {
    end(key, ok_result());
  } else {
    op->answered = true;
    op->sink->on_receipt(op->slice, *receipt);
    end_if_complete(key);
  }
  return true;
}

void InFlight::end_if_complete(OpKey key) noexcept {
  const PostedSlice* const op = ops_.find(key);
  if (op == nullptr || op->received != op->slice.length) return;
  if (op->order == 0 || op->answered) end(key, ok_result());
}

void InFlight::received(OpKey key, std::uint64_t bytes) noexcept {
  PostedSlice* const op = ops_.find(key);
  if (op == nullptr) return;  // a sink closed the channel meanwhile
  const PostedSlice before = *op;
  op->received += bytes;
  received_ += bytes;
  outstanding_ -= bytes;
  if (!before.discard) {
    before.sink->on_landed(before.slice, before.received, before.received + bytes);
  }
}

void InFlight::end(OpKey key, Result<void> outcome) noexcept {
  const PostedSlice* const op = ops_.find(key);
  if (op == nullptr) return;
  const PostedSlice ended = *op;
  ops_.erase(key);
  outstanding_ -= ended.slice.length - ended.received;
  if (ended.discard) return;
  --live_;
  ended.sink->on_outcome(ended.slice, std::move(outcome));
}

void InFlight::look(Sharing& sharing) noexcept {
  ops_.for_each([&sharing](OpKey, const PostedSlice& op) {
    if (!sharing.context) sharing.context = op.context;
    sharing.others = sharing.others || op.context != *sharing.context;
  });
}

std::vector<ReadContext> InFlight::give_up(const SliceSink& sink, std::vector<Slice>& given_up) {
  std::vector<ReadContext> contexts;
  const std::size_t before = given_up.size();
  ops_.for_each([&](OpKey, PostedSlice& op) {
    if (op.sink != &sink || op.discard) return;
    op.discard = true;
    given_up.push_back(op.slice);
    if (std::find(contexts.begin(), contexts.end(), op.context) == contexts.end()) {
      contexts.push_back(op.context);
    }
  });
  ops_.for_each([&](OpKey, PostedSlice& op) {
    const bool may_end = std::any_of(contexts.begin(), contexts.end(), [&](const auto& context) {
      return context.read == op.context.read;
    });
    if (may_end) op.cancelled = true;
  });
  std::erase_if(waiting_, [&](const PostedSlice& waiting) {
    if (waiting.sink != &sink) return false;
    outstanding_ -= waiting.slice.length;
    given_up.push_back(waiting.slice);
    return true;
  });
  live_ -= static_cast<std::uint32_t>(given_up.size() - before);
  return contexts;
}

void InFlight::end_all(const Error& error) {
  std::vector<PostedSlice> ended;
  ops_.for_each([&](OpKey key, PostedSlice& op) {
    if (!op.discard) ended.push_back(op);
    ops_.erase(key);
  });
  ended.insert(ended.end(), waiting_.begin(), waiting_.end());
  waiting_.clear();
  outstanding_ = 0;
  live_ = 0;
  for (const PostedSlice& posted : ended) posted.sink->on_outcome(posted.slice, error);
}

}  // namespace corail
