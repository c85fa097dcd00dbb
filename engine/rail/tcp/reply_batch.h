#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/memory/pin.h"
#include "engine/rail/tcp/data_frame.h"

namespace corail {

/// Replies that go out in one call, with the right to the bytes that they carry: a pin is dropped
/// when the batch is cleared, after the last byte was handed to the kernel, which copies (I6).
///
/// Owned by the channel that sends it; on the executor's thread. Fixed in size: allocates nothing.
class ReplyBatch {
 public:
  /// Replies at most. A small number of iovecs costs less per byte than a large one per call saves.
  static constexpr std::size_t kMaxReplies = 32;

  ReplyBatch() = default;
  ReplyBatch(const ReplyBatch&) = delete;
  ReplyBatch& operator=(const ReplyBatch&) = delete;

  bool has_room() const noexcept { return replies_ < kMaxReplies; }
  bool empty() const noexcept { return replies_ == 0; }
  std::uint64_t payload_bytes() const noexcept { return payload_bytes_; }

  /// There must be room. The payload is that of a DATA reply, empty otherwise.
  void add(const Reply& reply, std::span<const std::byte> payload, Pin pin);

  /// What has not been sent yet; empty once all has.
  std::span<const iovec> rest() const noexcept {
    return std::span(parts_).subspan(first_, parts_used_ - first_);
  }
  /// The first `bytes` of rest() have been sent.
  void sent(std::size_t bytes) noexcept;

  void clear() noexcept;

 private:
  std::array<ReplyBytes, kMaxReplies> headers_;
  std::array<Pin, kMaxReplies> pins_;
  std::array<iovec, 2 * kMaxReplies> parts_;
  std::size_t replies_ = 0;
  std::size_t parts_used_ = 0;
  std::size_t first_ = 0;
  std::uint64_t payload_bytes_ = 0;
};

}  // namespace corail
