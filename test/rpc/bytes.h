#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/random.h"
#include "rpc/frame.h"

namespace corail::test {

using Bytes = std::vector<std::byte>;

inline Bytes bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

inline Bytes body_of(FrameBuffer& frame) { return {frame.body().begin(), frame.body().end()}; }
inline Bytes body_of(FrameBuffer&& frame) { return body_of(frame); }

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

inline std::string hex_of(std::span<const std::byte> bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const std::byte byte : bytes) {
    hex += kDigits[std::to_integer<unsigned>(byte) >> 4];
    hex += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return hex;
}

inline FrameBuffer frame_of(std::span<const std::byte> body) {
  FrameBuffer frame(body.size());
  std::copy(body.begin(), body.end(), frame.body().begin());
  return frame;
}
inline FrameBuffer frame_of(std::string_view text) {
  return frame_of(std::as_bytes(std::span(text)));
}

/// Header and body as they travel.
inline Bytes wire_frame(FrameKind kind, Method method, std::uint64_t id, std::string_view body) {
  FrameBuffer frame = frame_of(body);
  frame.set_header(kind, method, id);
  return {frame.bytes().begin(), frame.bytes().end()};
}

/// What a broken or hostile peer makes of a message: flips, overwrites, cuts, repeats, inserts.
inline Bytes mutated(Bytes bytes, SeededRandom& random) {
  const std::uint64_t changes = 1 + random.below(4);
  for (std::uint64_t i = 0; i < changes && !bytes.empty(); ++i) {
    const auto at = static_cast<std::ptrdiff_t>(random.below(bytes.size()));
    const auto value = static_cast<std::byte>(random.next());
    const auto to = static_cast<std::ptrdiff_t>(
        static_cast<std::uint64_t>(at) + random.below(bytes.size() - static_cast<std::size_t>(at)));
    switch (random.below(5)) {
      case 0:
        bytes[static_cast<std::size_t>(at)] ^= std::byte{1} << random.below(8);
        break;
      case 1:
        bytes[static_cast<std::size_t>(at)] = value;
        break;
      case 2:
        bytes.erase(bytes.begin() + at, bytes.begin() + to);
        break;
      case 3: {
        const Bytes again(bytes.begin() + at, bytes.begin() + to);
        bytes.insert(bytes.begin() + at, again.begin(), again.end());
        break;
      }
      default:
        bytes.insert(bytes.begin() + at, value);
        break;
    }
  }
  return bytes;
}

}  // namespace corail::test
