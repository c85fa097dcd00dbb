#include <algorithm>
#include <chrono>

#include "proto/corail/v1/blocks.pb.h"
#include "rpc/codec.h"
#include "rpc/codec_fields.h"

namespace corail {
namespace {

constexpr std::string_view kRequest = "RenewLeaseRequest";
constexpr std::string_view kAnswer = "RenewLeaseAnswer";

}  // namespace

FrameBuffer encode_renew(ReadId read, Duration ttl) {
  v1::RenewLeaseRequest message;
  message.set_read_id(read.value());
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(ttl).count();
  message.set_ttl_ms(static_cast<std::uint32_t>(std::clamp<std::int64_t>(ms, 0, kMaxTtlMs)));
  return codec::to_frame(message);
}

Result<RenewRequest> decode_renew(std::span<const std::byte> body) {
  v1::RenewLeaseRequest message;
  const auto parsed = codec::parse(kRequest, body, message);
  if (!parsed.ok()) return parsed.error();
  if (message.read_id() == 0) return codec::field_error(kRequest, "read_id", "is 0");
  if (message.ttl_ms() > kMaxTtlMs) {
    return codec::field_error(kRequest, "ttl_ms", "is {}, more than {}", message.ttl_ms(),
                              kMaxTtlMs);
  }
  RenewRequest request;
  request.read = ReadId(message.read_id());
  request.ttl = std::chrono::milliseconds(message.ttl_ms());
  return request;
}

FrameBuffer encode_renew_answer(Duration ttl) {
  // The requester counts from an earlier moment than the holder, so rounding down is safe.
  v1::RenewLeaseAnswer message;
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(ttl).count();
  message.set_ttl_ms(static_cast<std::uint32_t>(std::clamp<std::int64_t>(ms, 1, kMaxTtlMs)));
  return codec::to_frame(message);
}

Result<Duration> decode_renew_answer(std::span<const std::byte> body) {
  v1::RenewLeaseAnswer message;
  const auto parsed = codec::parse(kAnswer, body, message);
  if (!parsed.ok()) return parsed.error();
  if (message.ttl_ms() == 0 || message.ttl_ms() > kMaxTtlMs) {
    return codec::field_error(kAnswer, "ttl_ms", "is {}, allowed are 1 to {}", message.ttl_ms(),
                              kMaxTtlMs);
  }
  return Duration(std::chrono::milliseconds(message.ttl_ms()));
}

}  // namespace corail
