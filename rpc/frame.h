#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/base/result.h"
#include "rpc/method.h"

namespace corail {

/// The kinds of frames. Requests and cancels go from the caller to the called side, answers and
/// errors back; both sides may call, and number their calls separately. Numbers are for ever.
enum class FrameKind : std::uint8_t {
  kRequest = 1,
  kAnswerPart = 2,  // more of this answer follows
  kAnswerEnd = 3,   // the last, usually the only, part of an answer
  kError = 4,       // ends a call; with id 0 the whole connection
  kCancel = 5,      // the caller has given the call up and ignores what is still answered
  kNotify = 6,      // needs no answer
  kPing = 7,
  kPong = 8,
};

/// Every frame starts with 16 bytes, little-endian: length of the body u32, kind u8, zero u8,
/// method u16, id u64.
inline constexpr std::size_t kFrameHeaderBytes = 16;
inline constexpr std::uint32_t kMaxErrorBytes = 4 * kKiB;

struct FrameHeader {
  std::uint32_t length = 0;  // bytes of the body
  FrameKind kind = FrameKind::kPing;
  Method method = Method::kNone;
  std::uint64_t id = 0;  // of the call, from 1; 0 where no call is meant
};

std::array<std::byte, kFrameHeaderBytes> encode_header(const FrameHeader& header) noexcept;

/// Checks everything that a header alone can get wrong: the kind, the length against the limits of
/// kind and method, the id. Fails with kProtocol; the stream is then out of step and must be
/// closed.
Result<FrameHeader> decode_header(std::span<const std::byte, kFrameHeaderBytes> bytes);

/// A frame to be sent: one allocation that holds header and body, so that one buffer goes to the
/// stream. Move-only.
class FrameBuffer {
 public:
  FrameBuffer() : FrameBuffer(0) {}
  /// The body is not initialized: fill it.
  explicit FrameBuffer(std::size_t body_bytes)
      : bytes_(std::make_unique_for_overwrite<std::byte[]>(kFrameHeaderBytes + body_bytes)),
        body_bytes_(body_bytes) {}

  std::span<std::byte> body() noexcept { return {bytes_.get() + kFrameHeaderBytes, body_bytes_}; }
  std::size_t body_bytes() const noexcept { return body_bytes_; }

  /// Writes the header in front of the body, which must not be longer than kMaxFrameBytes.
  void set_header(FrameKind kind, Method method, std::uint64_t id) noexcept;
  /// Header and body.
  std::span<const std::byte> bytes() const noexcept {
    return {bytes_.get(), kFrameHeaderBytes + body_bytes_};
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  std::size_t body_bytes_ = 0;
};

}  // namespace corail
