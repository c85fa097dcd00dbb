#pragma once

// For the codec's own sources only: everybody else sees codec.h.

#include <fmt/core.h>
#include <google/protobuf/message_lite.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/error.h"
#include "engine/base/result.h"
#include "rpc/frame.h"
#include "rpc/wire_format.h"

namespace corail::codec {

inline FrameBuffer to_frame(const google::protobuf::MessageLite& message) {
  const std::size_t bytes = message.ByteSizeLong();
  FrameBuffer frame(bytes);
  auto* const begin = reinterpret_cast<std::uint8_t*>(frame.body().data());
  const auto* const end = message.SerializeWithCachedSizesToArray(begin);
  CORAIL_CHECK(end == begin + bytes, "a message changed while it was encoded");
  return frame;
}

/// The complaint about one field of a message that a peer sent.
template <typename... Args>
Error field_error(std::string_view message, std::string_view field,
                  fmt::format_string<Args...> format, Args&&... args) {
  return Error(Errc::kProtocol, fmt::format("the peer's {}.{} {}", message, field,
                                            fmt::format(format, std::forward<Args>(args)...)));
}

inline Error malformed(std::string_view message) {
  return Error(Errc::kProtocol, fmt::format("the peer's {} is no valid Protobuf message", message));
}

inline Result<void> parse(std::string_view name, std::span<const std::byte> body,
                          google::protobuf::MessageLite& message) {
  // Bodies are at most kMaxFrameBytes, which an int holds.
  if (message.ParseFromArray(body.data(), static_cast<int>(body.size()))) return ok_result();
  return malformed(name);
}

inline Result<void> check_length(std::string_view message, std::string_view field,
                                 std::size_t bytes, std::size_t most) {
  if (bytes <= most) return ok_result();
  return field_error(message, field, "has {} bytes, more than the {} allowed", bytes, most);
}

/// How often one field of the top level occurs, or malformed. For repeated messages, whose elements
/// cost more in memory than on the wire.
inline Result<std::size_t> count_field(std::string_view name, std::span<const std::byte> body,
                                       std::uint32_t field) {
  std::size_t count = 0;
  WireReader reader(body);
  while (reader.next()) count += reader.field() == field ? 1 : 0;
  if (!reader.ok()) return malformed(name);
  return count;
}

inline Result<void> check_count(std::string_view message, std::string_view name,
                                std::span<const std::byte> body, std::uint32_t field,
                                std::size_t most) {
  const auto count = count_field(message, body, field);
  if (!count.ok()) return count.error();
  if (*count <= most) return ok_result();
  return field_error(message, name, "has {} elements, more than the {} allowed", *count, most);
}

}  // namespace corail::codec
