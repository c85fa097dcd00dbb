#include "rpc/frame.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "engine/base/check.h"
#include "rpc/little_endian.h"

namespace corail {
namespace {

struct KindRule {
  std::string_view name;
  std::uint32_t max_bytes;
  bool needs_id;
};

/// The name is empty for an unknown kind.
KindRule rule_of(FrameKind kind, const MethodLimits& limits) noexcept {
  switch (kind) {
    case FrameKind::kRequest:
      return {"request", limits.request_bytes, true};
    case FrameKind::kAnswerPart:
    case FrameKind::kAnswerEnd:
      return {"answer", limits.answer_bytes, true};
    case FrameKind::kError:
      return {"error", kMaxErrorBytes, false};
    case FrameKind::kCancel:
      return {"cancel", 0, true};
    case FrameKind::kNotify:
      return {"notification", limits.notify_bytes, false};
    case FrameKind::kPing:
      return {"ping", 0, false};
    case FrameKind::kPong:
      return {"pong", 0, false};
  }
  return {};
}

}  // namespace

std::array<std::byte, kFrameHeaderBytes> encode_header(const FrameHeader& header) noexcept {
  std::array<std::byte, kFrameHeaderBytes> bytes{};
  store_little_endian(bytes.data(), header.length);
  store_little_endian(bytes.data() + 4, static_cast<std::uint8_t>(header.kind));
  store_little_endian(bytes.data() + 6, static_cast<std::uint16_t>(header.method));
  store_little_endian(bytes.data() + 8, header.id);
  return bytes;
}

Result<FrameHeader> decode_header(std::span<const std::byte, kFrameHeaderBytes> bytes) {
  FrameHeader header;
  header.length = load_little_endian<std::uint32_t>(bytes.data());
  header.kind = static_cast<FrameKind>(load_little_endian<std::uint8_t>(bytes.data() + 4));
  const auto reserved = load_little_endian<std::uint8_t>(bytes.data() + 5);
  header.method = static_cast<Method>(load_little_endian<std::uint16_t>(bytes.data() + 6));
  header.id = load_little_endian<std::uint64_t>(bytes.data() + 8);

  const MethodLimits limits = limits_of(header.method);
  const KindRule rule = rule_of(header.kind, limits);
  if (rule.name.empty() || reserved != 0) {
    return Error(Errc::kProtocol, fmt::format("the peer sent a frame of unknown kind {} (flags {})",
                                              static_cast<unsigned>(header.kind), reserved));
  }
  if (header.length > rule.max_bytes) {
    return Error(Errc::kProtocol,
                 fmt::format("the peer announced a frame ({}, method {} {}) of {} "
                             "bytes, more than the {} allowed",
                             rule.name, limits.name, static_cast<unsigned>(header.method),
                             header.length, rule.max_bytes));
  }
  if (rule.needs_id && header.id == 0) {
    return Error(Errc::kProtocol,
                 fmt::format("the peer sent a frame ({}) without a call's id", rule.name));
  }
  return header;
}

void FrameBuffer::set_header(FrameKind kind, Method method, std::uint64_t id) noexcept {
  CORAIL_CHECK(body_bytes_ <= kMaxFrameBytes, "a frame of ours is longer than the protocol allows");
  const auto header = encode_header({static_cast<std::uint32_t>(body_bytes_), kind, method, id});
  std::copy(header.begin(), header.end(), bytes_.get());
}

}  // namespace corail
