#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/rail/tcp/data_frame.h"
#include "engine/rail/tcp/in_flight.h"

namespace corail {

/// Takes a channel's byte stream apart: says where the next bytes go, and makes landings and
/// outcomes of what has arrived. No socket in here, so that anything can be fed to it.
///
/// Payload goes straight into the destination, together with the header behind it in one call. The
/// target is looked up anew for every call: once a slice is fenced, its bytes go into a small
/// buffer that nobody reads (I1). Owned by its channel, as is the table of slices.
class ReplyReader {
 public:
  ReplyReader(InFlight& slices, std::uint64_t receive_bytes);

  /// Where to receive next, at most `receive_bytes` of payload. Use at once: a fence changes it.
  std::span<iovec> targets() noexcept;
  /// Bytes that the last targets() had room for.
  std::size_t room() const noexcept { return room_; }

  /// The first `count` bytes of the last targets() have been received. Fails with kProtocol when
  /// the holder may not send this (I5); the stream is of no use then.
  Result<void> advance(std::size_t count);

 private:
  Result<void> begin(const Reply& reply);
  Result<void> begin_data(const Reply& reply, OpKey key, const PostedSlice& op);

  InFlight& slices_;
  const std::uint64_t receive_bytes_;
  std::vector<std::byte> discarded_;
  ReplyBytes header_{};
  std::size_t header_bytes_ = 0;
  OpKey current_;  // not of an operation where its payload is dropped
  std::uint64_t payload_left_ = 0;
  std::array<iovec, 2> targets_{};
  std::size_t room_ = 0;
};

}  // namespace corail
