#include "test/sim/frame_tap.h"

#include "rpc/preface.h"

namespace corail::sim {

void FrameTap::feed(std::span<const std::byte> bytes) {
  bytes_ += bytes.size();
  if (lost_) return;
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  std::size_t at = 0;
  if (!greeted_ && pending_.size() >= kPrefaceBytes) {
    greeted_ = true;
    at = kPrefaceBytes;
  }
  while (greeted_ && pending_.size() - at >= kFrameHeaderBytes) {
    const std::span<const std::byte> rest = std::span(pending_).subspan(at);
    const auto header = decode_header(rest.first<kFrameHeaderBytes>());
    if (!header) {
      lost_ = true;
      return;
    }
    if (rest.size() < kFrameHeaderBytes + header->length) break;
    on_frame_(*header, rest.subspan(kFrameHeaderBytes, header->length));
    at += kFrameHeaderBytes + header->length;
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace corail::sim
