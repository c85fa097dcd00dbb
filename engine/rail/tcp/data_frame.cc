#include "engine/rail/tcp/data_frame.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

namespace corail {
namespace {

/// Writes fields one behind the other.
template <std::size_t kSize>
class FieldWriter {
 public:
  template <typename Number>
  FieldWriter& number(Number value) noexcept {
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      bytes_[at_++] = static_cast<std::byte>(value >> (8 * i));
    }
    return *this;
  }
  FieldWriter& bytes(std::span<const std::uint8_t> values) noexcept {
    for (const std::uint8_t value : values) bytes_[at_++] = std::byte{value};
    return *this;
  }
  std::array<std::byte, kSize> done() const noexcept { return bytes_; }

 private:
  std::array<std::byte, kSize> bytes_{};
  std::size_t at_ = 0;
};

class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  template <typename Number>
  Number number() noexcept {
    Number value = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      value |= static_cast<Number>(std::to_integer<Number>(bytes_[at_ + i]) << (8 * i));
    }
    at_ += sizeof(Number);
    return value;
  }
  void bytes(std::span<std::uint8_t> values) noexcept {
    for (std::uint8_t& value : values) value = std::to_integer<std::uint8_t>(bytes_[at_++]);
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

Error malformed(std::string detail) { return Error(Errc::kProtocol, std::move(detail)); }

using Magic = std::array<std::uint8_t, 8>;

bool begins_with(FieldReader& reader, const Magic& magic) noexcept {
  Magic found{};
  reader.bytes(found);
  return found == magic;
}

}  // namespace

static_assert(kChannelPrefaceBytes == kChannelMagic.size() + 4 + 4 + sizeof(ChannelToken) + 8);
static_assert(kLeastPrefaceBytes <= kChannelPrefaceBytes);
static_assert(kChannelPrefaceAnswerBytes == kChannelAnswerMagic.size() + 4 + 4);
static_assert(kRequestBytes == 4 + 4 + 5 * 8);
static_assert(kReplyBytes == 4 + 4 + 3 * 8);
static_assert(kMaxPayloadBytes <= kMaxReadBytes);

ChannelPrefaceBytes encode(const ChannelPreface& preface) noexcept {
  FieldWriter<kChannelPrefaceBytes> writer;
  writer.bytes(kChannelMagic).number(preface.version).number(std::uint32_t{0});
  return writer.bytes(preface.token).number(preface.name).done();
}

ChannelPrefaceAnswerBytes encode(const ChannelPrefaceAnswer& answer) noexcept {
  FieldWriter<kChannelPrefaceAnswerBytes> writer;
  writer.bytes(kChannelAnswerMagic).number(answer.version);
  return writer.number(static_cast<std::uint32_t>(answer.answer)).done();
}

RequestBytes encode(const Request& request) noexcept {
  FieldWriter<kRequestBytes> writer;
  writer.number(static_cast<std::uint32_t>(request.kind)).number(request.region.value());
  writer.number(request.op.packed()).number(request.offset).number(request.length);
  return writer.number(request.read.value()).number(request.epoch.value()).done();
}

ReplyBytes encode(const Reply& reply) noexcept {
  FieldWriter<kReplyBytes> writer;
  writer.number(static_cast<std::uint32_t>(reply.kind));
  writer.number(static_cast<std::uint32_t>(reply.refusal)).number(reply.op.packed());
  return writer.number(reply.offset).number(reply.length).done();
}

bool may_be_channel_preface(std::span<const std::byte> first) noexcept {
  const std::size_t known = std::min(first.size(), kChannelMagic.size());
  for (std::size_t i = 0; i < known; ++i) {
    if (std::to_integer<std::uint8_t>(first[i]) != kChannelMagic[i]) return false;
  }
  return true;
}

Result<ChannelPreface> decode_channel_preface(
    std::span<const std::byte, kChannelPrefaceBytes> bytes) {
  FieldReader reader(bytes);
  if (!begins_with(reader, kChannelMagic)) {
    return malformed("this is no data channel of corail");
  }
  ChannelPreface preface;
  preface.version = reader.number<std::uint32_t>();
  if (reader.number<std::uint32_t>() != 0 && preface.version == kChannelVersion) {
    return malformed("the reserved field of the preface is not zero");
  }
  reader.bytes(preface.token);
  preface.name = reader.number<std::uint64_t>();
  return preface;
}

Result<ChannelPrefaceAnswer> decode_channel_preface_answer(
    std::span<const std::byte, kChannelPrefaceAnswerBytes> bytes) {
  FieldReader reader(bytes);
  if (!begins_with(reader, kChannelAnswerMagic)) {
    return malformed("the answer is not that of a corail data channel");
  }
  ChannelPrefaceAnswer answer;
  answer.version = reader.number<std::uint32_t>();
  const auto number = reader.number<std::uint32_t>();
  answer.answer = static_cast<ChannelAnswer>(number);
  if (answer.version == kChannelVersion && answer.answer > ChannelAnswer::kTooManyChannels) {
    return malformed(fmt::format("unknown answer {} to the preface", number));
  }
  return answer;
}

Result<Request> decode_request(std::span<const std::byte, kRequestBytes> bytes) {
  FieldReader reader(bytes);
  Request request;
  const auto kind = reader.number<std::uint32_t>();
  request.kind = static_cast<RequestKind>(kind);
  request.region = RegionId(reader.number<std::uint32_t>());
  request.op = OpKey::unpack(reader.number<std::uint64_t>());
  request.offset = reader.number<std::uint64_t>();
  request.length = reader.number<std::uint64_t>();
  request.read = ReadId(reader.number<std::uint64_t>());
  request.epoch = EpochNumber(reader.number<std::uint64_t>());
  if (request.kind == RequestKind::kCancel) return request;
  if (request.kind != RequestKind::kRead) return malformed(fmt::format("unknown request {}", kind));
  if (request.length == 0 || request.length > kMaxReadBytes) {
    return malformed(
        fmt::format("a READ of {} bytes, allowed are 1 to {}", request.length, kMaxReadBytes));
  }
  if (!checked_add(request.offset, request.length)) {
    return malformed(fmt::format("a READ of {} bytes at offset {} overflows 64 bits",
                                 request.length, request.offset));
  }
  return request;
}

Result<Reply> decode_reply(std::span<const std::byte, kReplyBytes> bytes) {
  FieldReader reader(bytes);
  Reply reply;
  const auto kind = reader.number<std::uint32_t>();
  const auto refusal = reader.number<std::uint32_t>();
  reply.kind = static_cast<ReplyKind>(kind);
  reply.refusal = static_cast<Refusal>(refusal);
  reply.op = OpKey::unpack(reader.number<std::uint64_t>());
  reply.offset = reader.number<std::uint64_t>();
  reply.length = reader.number<std::uint64_t>();
  switch (reply.kind) {
    case ReplyKind::kData:
      if (reply.length == 0 || reply.length > kMaxPayloadBytes) {
        return malformed(fmt::format("a DATA frame of {} bytes, allowed are 1 to {}", reply.length,
                                     kMaxPayloadBytes));
      }
      if (!checked_add(reply.offset, reply.length)) {
        return malformed(fmt::format("a DATA frame at offset {} overflows 64 bits", reply.offset));
      }
      return reply;
    case ReplyKind::kCancelled:
      return reply;
    case ReplyKind::kRefused:
      if (errc_of(reply.refusal) == Errc::kUnset) {
        return malformed(fmt::format("unknown refusal {}", refusal));
      }
      return reply;
  }
  return malformed(fmt::format("unknown reply {}", kind));
}

Refusal refusal_of(Errc code) noexcept {
  return code == Errc::kLeaseExpired ? Refusal::kLeaseExpired : Refusal::kRefused;
}

Errc errc_of(Refusal refusal) noexcept {
  switch (refusal) {
    case Refusal::kNone:
      return Errc::kUnset;
    case Refusal::kRefused:
      return Errc::kRefused;
    case Refusal::kLeaseExpired:
      return Errc::kLeaseExpired;
  }
  return Errc::kUnset;
}

}  // namespace corail
