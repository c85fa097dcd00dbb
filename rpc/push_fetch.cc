// What is pushed, brought into memory.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "rpc/push_order.h"
#include "rpc/push_service.h"
#include "rpc/push_staging.h"

namespace corail {
namespace {

/// What the reader is told: what checksums say of its own bytes is for it to find out, and those of
/// a disk here are this node's trouble.
Error told(const Error& error) {
  if (error.code() != Errc::kChecksumMismatch) return Error(error).at(Stage::kServe);
  return Error(Errc::kStoreFailed, Stage::kServe, error.detail());
}

}  // namespace

Task<Result<void>> PushService::fetch(Order* order) {
  if (!order->read->in_memory) {
    auto staged = co_await stage(order);
    co_return staged;
  }
  const PushOrder& wanted = order->request.order;
  auto pinned = objects_.store.pin(order->lease, wanted.source_offset, wanted.length);
  if (!pinned) co_return std::move(pinned).error().at(Stage::kServe);
  order->bytes = std::move(*pinned);
  co_return ok_result();
}

Task<Result<void>> PushService::stage(Order* order) {
  CORAIL_CHECK(objects_.staging != nullptr, "what is on disks is staged in memory of the node");
  const PushOrder& wanted = order->request.order;
  const ObjectDescriptor& object = order->read->info->object;
  const auto stripe = static_cast<std::uint32_t>(wanted.source_offset / object.stripe_size);
  std::uint64_t begin = wanted.source_offset % object.stripe_size;
  std::uint64_t end = begin + wanted.length;
  const std::uint64_t most = objects_.staging->buffer_bytes();
  if (wanted.length > most) {
    co_return Error(Errc::kTooLarge, Stage::kServe,
                    fmt::format("{} bytes at once are more than the {} that this node stages; ask "
                                "for less, or raise its staging_buffer_bytes",
                                wanted.length, most));
  }
  // Whole granules, so that a disk that lies is found out here, where it can be named.
  const std::uint64_t first = begin / kGranuleBytes * kGranuleBytes;
  const std::uint64_t last = std::min((end + kGranuleBytes - 1) / kGranuleBytes * kGranuleBytes,
                                      object.chunks[stripe].length);
  const bool verify = last - first <= most;
  const std::uint64_t skipped = verify ? begin - first : 0;
  if (verify) {
    begin = first;
    end = last;
  }
  auto share = co_await staged_.acquire(1);
  if (!share) co_return std::move(share).error();
  order->holds_share = true;
  if (order->is_stopped()) co_return order_given_up();
  auto buffer = co_await objects_.staging->take();
  if (!buffer) co_return std::move(buffer).error();
  order->buffer = std::move(*buffer);
  if (order->is_stopped()) co_return order_given_up();
  const TimePoint from = clock_.now();
  const std::span<std::byte> into = order->buffer.bytes().first(end - begin);
  const ReadCheck check = verify ? ReadCheck::kVerify : ReadCheck::kNone;
  auto read = co_await objects_.store.read(order->lease, stripe, begin, into, check);
  order->disk = clock_.now() - from;
  if (!read) co_return told(read.error());
  order->bytes = PinnedBytes(into.subspan(skipped, wanted.length), order->buffer.pin());
  co_return ok_result();
}

}  // namespace corail
