#include "engine/rail/tcp/reply_batch.h"

#include <utility>

#include "engine/base/check.h"

namespace corail {

void ReplyBatch::add(const Reply& reply, std::span<const std::byte> payload, Pin pin) {
  CORAIL_CHECK(has_room(), "a reply was added to a full batch");
  headers_[replies_] = encode(reply);
  pins_[replies_] = std::move(pin);
  parts_[parts_used_++] = iovec{headers_[replies_].data(), kReplyBytes};
  if (!payload.empty()) {
    // The kernel only reads from here; iovec is older than const.
    parts_[parts_used_++] = iovec{const_cast<std::byte*>(payload.data()), payload.size()};
  }
  ++replies_;
  payload_bytes_ += payload.size();
}

void ReplyBatch::sent(std::size_t bytes) noexcept {
  while (bytes > 0) {
    iovec& part = parts_[first_];
    if (bytes < part.iov_len) {
      part.iov_base = static_cast<std::byte*>(part.iov_base) + bytes;
      part.iov_len -= bytes;
      return;
    }
    bytes -= part.iov_len;
    ++first_;
  }
}

void ReplyBatch::clear() noexcept {
  for (std::size_t i = 0; i < replies_; ++i) pins_[i].reset();
  replies_ = 0;
  parts_used_ = 0;
  first_ = 0;
  payload_bytes_ = 0;
}

}  // namespace corail
