#include "engine/rail/tcp/reply_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

namespace corail {
namespace {

constexpr std::size_t kDiscardBytes = 64 * kKiB;

Error breach(std::string detail) {
  return Error(Errc::kProtocol, Stage::kWait, "the holder broke the protocol: " + detail);
}

Error refused(Refusal refusal) {
  const Errc code = errc_of(refusal);
  if (code == Errc::kLeaseExpired) {
    return Error(code, Stage::kWait,
                 "the holder no longer serves this read: its lease has lapsed or was given back");
  }
  return Error(code, Stage::kWait,
               "the holder refused the slice: it does not lie inside what is leased to this read");
}

}  // namespace

ReplyReader::ReplyReader(InFlight& slices, std::uint64_t receive_bytes)
    : slices_(slices), receive_bytes_(receive_bytes), discarded_(kDiscardBytes) {}

std::span<iovec> ReplyReader::targets() noexcept {
  std::size_t used = 0;
  room_ = 0;
  std::uint64_t payload = std::min(payload_left_, receive_bytes_);
  if (payload > 0) {
    const PostedSlice* const op = slices_.find(current_);
    std::byte* where = discarded_.data();
    if (op != nullptr && !op->discard) {
      where = op->slice.destination + op->received;
    } else {
      payload = std::min<std::uint64_t>(payload, discarded_.size());
    }
    targets_[used++] = iovec{where, static_cast<std::size_t>(payload)};
    room_ += static_cast<std::size_t>(payload);
  }
  if (payload == payload_left_) {
    targets_[used++] = iovec{header_.data() + header_bytes_, kReplyBytes - header_bytes_};
    room_ += kReplyBytes - header_bytes_;
  }
  return std::span(targets_).first(used);
}

Result<void> ReplyReader::advance(std::size_t count) {
  if (payload_left_ > 0) {
    const std::uint64_t landed = std::min<std::uint64_t>(count, payload_left_);
    payload_left_ -= landed;
    count -= static_cast<std::size_t>(landed);
    slices_.received(current_, landed);
    slices_.end_if_complete(current_);
  }
  header_bytes_ += count;
  if (header_bytes_ < kReplyBytes) return ok_result();
  header_bytes_ = 0;
  const auto reply = decode_reply(header_);
  if (!reply.ok()) return breach(reply.error().detail());
  return begin(*reply);
}

Result<void> ReplyReader::begin(const Reply& reply) {
  const OpKey key = slices_.resolve(reply.op);
  const PostedSlice* const op = slices_.find(key);
  const bool ordered = slices_.was_ordered(reply.op);
  if (op == nullptr && ordered && reply.kind == ReplyKind::kData) {
    // The answer that has ended the order was faster.
    current_ = OpKey();
    payload_left_ = reply.length;
    return ok_result();
  }
  if (ordered && reply.kind != ReplyKind::kData) {
    return breach(fmt::format("order {:#x} was answered on the data channel", reply.op.packed()));
  }
  if (op == nullptr) {
    return breach(fmt::format("a reply to operation {:#x}, which does not exist or has ended",
                              reply.op.packed()));
  }
  switch (reply.kind) {
    case ReplyKind::kData:
      return begin_data(reply, key, *op);
    case ReplyKind::kCancelled:
      if (!op->cancelled) {
        // Taken for a flush it would be posted again, and a holder could have that for ever.
        return breach(fmt::format("operation {:#x} was cancelled, which nobody asked for",
                                  reply.op.packed()));
      }
      // Where its sink does not know yet, another one of the same read was fenced.
      slices_.end(reply.op, Error(Errc::kFlushed, Stage::kWait,
                                  "given up by the fence of another part of the same read"));
      return ok_result();
    case ReplyKind::kRefused:
      slices_.end(reply.op, refused(reply.refusal));
      return ok_result();
  }
  return ok_result();
}

Result<void> ReplyReader::begin_data(const Reply& reply, OpKey key, const PostedSlice& op) {
  if (reply.offset != op.received) {
    return breach(
        fmt::format("a DATA frame at offset {} where {} was due", reply.offset, op.received));
  }
  // No overflow: the length of a reply is small, and received is at most the slice's.
  if (reply.length > op.slice.length - op.received) {
    return breach(fmt::format("a DATA frame of {} bytes where {} are left of the slice",
                              reply.length, op.slice.length - op.received));
  }
  current_ = key;
  payload_left_ = reply.length;
  return ok_result();
}

}  // namespace corail
