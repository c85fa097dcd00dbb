// OpenObject and ReadStripes.
#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "engine/base/units.h"
#include "engine/object/descriptor_check.h"
#include "engine/object/striping_info.h"
#include "proto/corail/v1/objects.pb.h"
#include "rpc/codec_fields.h"
#include "rpc/codec_object_fields.h"
#include "rpc/messages.h"
#include "rpc/object_codec.h"
#include "rpc/packed.h"

namespace corail {
namespace {

constexpr std::string_view kOpen = "OpenObjectRequest";
constexpr std::string_view kOpened = "OpenObjectAnswer";
constexpr std::string_view kRead = "ReadStripesRequest";
constexpr std::string_view kSent = "ReadStripesAnswer";

std::uint32_t ms_of(Duration time) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(time).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(ms, 1, kMaxTtlMs));
}

/// A vector of Protobuf's takes as much memory as ours, and a body is bounded, so nothing has to be
/// counted before it is parsed.
Result<void> check_granules_of(const v1::OpenObjectRequest& message) {
  if (static_cast<std::size_t>(message.granules_of_size()) > kMaxObjectStripes) {
    return codec::field_error(kOpen, "granules_of", "has {} elements, more than the {} allowed",
                              message.granules_of_size(), kMaxObjectStripes);
  }
  for (int i = 0; i < message.granules_of_size(); ++i) {
    const bool ascends = i == 0 || message.granules_of(i - 1) < message.granules_of(i);
    if (ascends && message.granules_of(i) < kMaxObjectStripes) continue;
    return codec::field_error(kOpen, "granules_of", "has {} at {}, which must ascend below {}",
                              message.granules_of(i), i, kMaxObjectStripes);
  }
  return ok_result();
}

}  // namespace

FrameBuffer encode_open_object(const OpenObjectRequest& request) {
  v1::OpenObjectRequest message;
  message.set_read_id(request.read.value());
  message.set_key(request.key);
  message.set_generation(request.generation.value());
  message.set_snapshot(request.snapshot);
  const auto ms = std::chrono::ceil<std::chrono::milliseconds>(request.ttl).count();
  message.set_ttl_ms(static_cast<std::uint32_t>(std::clamp<std::int64_t>(ms, 0, kMaxTtlMs)));
  message.set_want_addresses(request.want_addresses);
  message.mutable_granules_of()->Add(request.granules_of.begin(), request.granules_of.end());
  return codec::to_frame(message);
}

Result<OpenObjectRequest> decode_open_object(std::span<const std::byte> body) {
  v1::OpenObjectRequest message;
  const auto parsed = codec::parse(kOpen, body, message);
  if (!parsed.ok()) return parsed.error();
  if (message.read_id() == 0) return codec::field_error(kOpen, "read_id", "is 0");
  auto checked = codec::check_key(kOpen, message.key());
  if (!checked.ok()) return std::move(checked).error();
  if (message.generation() == 0) return codec::field_error(kOpen, "generation", "is 0");
  if (message.ttl_ms() > kMaxTtlMs) {
    return codec::field_error(kOpen, "ttl_ms", "is {}, more than {}", message.ttl_ms(), kMaxTtlMs);
  }
  checked = check_granules_of(message);
  if (!checked.ok()) return std::move(checked).error();
  OpenObjectRequest request;
  request.read = ReadId(message.read_id());
  request.key = std::move(*message.mutable_key());
  request.generation = ObjectGeneration(message.generation());
  request.snapshot = message.snapshot();
  request.ttl = std::chrono::milliseconds(message.ttl_ms());
  request.want_addresses = message.want_addresses();
  request.granules_of.assign(message.granules_of().begin(), message.granules_of().end());
  return request;
}

FrameBuffer encode_open_object_answer(const OpenObjectAnswer& answer) {
  v1::OpenObjectAnswer head;
  head.set_ttl_ms(ms_of(answer.ttl));
  head.set_in_memory(answer.in_memory);
  head.set_table_generation(answer.regions.value());
  head.set_most_pushed(answer.most_pushed);
  const std::size_t head_bytes = head.ByteSizeLong();
  const PackedFixed64 addresses(v1::OpenObjectAnswer::kAddressesFieldNumber, answer.addresses);
  const PackedFixed64 granules(v1::OpenObjectAnswer::kGranuleChecksumsFieldNumber, answer.granules);
  FrameBuffer frame(head_bytes + addresses.size() + granules.size());
  head.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(frame.body().data()));
  WireWriter writer(frame.body().subspan(head_bytes));
  addresses.write(writer);
  granules.write(writer);
  CORAIL_CHECK(writer.full(), "the size of an open object's answer was computed wrongly");
  return frame;
}

Result<OpenObjectAnswer> decode_open_object_answer(std::span<const std::byte> body,
                                                   const OpenObjectExpectation& expected) {
  using Answer = v1::OpenObjectAnswer;
  OpenObjectAnswer answer;
  std::uint64_t ttl_ms = 0;
  WireReader reader(body);
  while (reader.next()) {
    const std::uint32_t field = reader.field();
    const bool addresses = field == Answer::kAddressesFieldNumber;
    if (addresses || field == Answer::kGranuleChecksumsFieldNumber) {
      const std::size_t most = addresses ? expected.stripes : expected.granules;
      if (!append_fixed64(reader, most, addresses ? answer.addresses : answer.granules)) {
        return codec::field_error(kOpened, addresses ? "addresses" : "granule_checksums",
                                  "is no array of at most {} numbers", most);
      }
      continue;
    }
    if (!reader.is(WireType::kVarint)) continue;  // of a later version
    if (field == Answer::kTtlMsFieldNumber) ttl_ms = reader.number();
    if (field == Answer::kInMemoryFieldNumber) answer.in_memory = reader.number() != 0;
    if (field == Answer::kMostPushedFieldNumber) answer.most_pushed = reader.number();
    if (field == Answer::kTableGenerationFieldNumber) {
      answer.regions = TableGeneration(reader.number());
    }
  }
  if (!reader.ok()) return codec::malformed(kOpened);
  if (ttl_ms == 0 || ttl_ms > kMaxTtlMs) {
    return codec::field_error(kOpened, "ttl_ms", "is {}, allowed are 1 to {}", ttl_ms, kMaxTtlMs);
  }
  answer.ttl = std::chrono::milliseconds(ttl_ms);
  if (answer.most_pushed < kGranuleBytes || answer.most_pushed > kMaxStripeBytes) {
    return codec::field_error(kOpened, "most_pushed", "is {}, allowed are {} to {}",
                              answer.most_pushed, kGranuleBytes, kMaxStripeBytes);
  }
  const std::size_t addresses = expected.want_addresses && answer.in_memory ? expected.stripes : 0;
  if (answer.addresses.size() != addresses) {
    return codec::field_error(kOpened, "addresses", "has {} elements instead of {}",
                              answer.addresses.size(), addresses);
  }
  if (answer.granules.size() != expected.granules) {
    return codec::field_error(kOpened, "granule_checksums", "has {} elements instead of {}",
                              answer.granules.size(), expected.granules);
  }
  return answer;
}

FrameBuffer encode_read_stripes(const ReadStripesRequest& request) {
  const PushOrder& order = request.order;
  v1::ReadStripesRequest message;
  message.set_read_id(order.context.read.value());
  message.set_epoch(order.context.epoch.value());
  message.set_door(request.door);
  message.set_channel(order.channel);
  message.set_number(order.number);
  message.set_source_offset(order.source_offset);
  message.set_length(order.length);
  message.set_address(order.address);
  message.set_write_key(order.write_key);
  message.set_key_base(order.key_base);
  message.set_key_length(order.key_length);
  return codec::to_frame(message);
}

Result<ReadStripesRequest> decode_read_stripes(std::span<const std::byte> body) {
  v1::ReadStripesRequest message;
  const auto parsed = codec::parse(kRead, body, message);
  if (!parsed.ok()) return parsed.error();
  if (message.read_id() == 0) return codec::field_error(kRead, "read_id", "is 0");
  if (message.door() >= kMaxRails) {
    return codec::field_error(kRead, "door", "is {}, a node has at most {}", message.door(),
                              kMaxRails);
  }
  if (message.length() < 1 || message.length() > kMaxStripeBytes) {
    return codec::field_error(kRead, "length", "is {}, outside of 1 to {}", message.length(),
                              kMaxStripeBytes);
  }
  const auto overflows = [](std::uint64_t begin, std::uint64_t length) {
    return !checked_add(begin, length);
  };
  if (overflows(message.source_offset(), message.length())) {
    return codec::field_error(kRead, "source_offset", "is {}, with a length of {}",
                              message.source_offset(), message.length());
  }
  if (overflows(message.address(), message.length())) {
    return codec::field_error(kRead, "address", "is {}, with a length of {}", message.address(),
                              message.length());
  }
  if (overflows(message.key_base(), message.key_length())) {
    return codec::field_error(kRead, "key_base", "is {}, with a length of {}", message.key_base(),
                              message.key_length());
  }
  ReadStripesRequest request;
  request.door = message.door();
  PushOrder& order = request.order;
  order.context.read = ReadId(message.read_id());
  order.context.epoch = EpochNumber(message.epoch());
  order.channel = message.channel();
  order.number = message.number();
  order.source_offset = message.source_offset();
  order.length = message.length();
  order.address = message.address();
  order.write_key = message.write_key();
  order.key_base = message.key_base();
  order.key_length = message.key_length();
  return request;
}

FrameBuffer encode_read_stripes_answer(const PushReceipt& receipt) {
  const auto ns_of = [](Duration time) {
    const Duration bounded = std::clamp(time, Duration::zero(), Duration(kMaxPushTime));
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(bounded).count());
  };
  v1::ReadStripesAnswer message;
  message.set_bytes(receipt.bytes);
  message.set_disk_ns(ns_of(receipt.disk));
  message.set_send_ns(ns_of(receipt.send));
  return codec::to_frame(message);
}

Result<PushReceipt> decode_read_stripes_answer(std::span<const std::byte> body,
                                               std::uint64_t ordered) {
  v1::ReadStripesAnswer message;
  const auto parsed = codec::parse(kSent, body, message);
  if (!parsed.ok()) return parsed.error();
  if (message.bytes() != ordered) {
    return codec::field_error(kSent, "bytes", "is {}, where {} were ordered", message.bytes(),
                              ordered);
  }
  constexpr auto kMost = static_cast<std::uint64_t>(std::chrono::nanoseconds(kMaxPushTime).count());
  if (message.disk_ns() > kMost || message.send_ns() > kMost) {
    return codec::field_error(kSent, message.disk_ns() > kMost ? "disk_ns" : "send_ns",
                              "is more than {}", kMost);
  }
  PushReceipt receipt;
  receipt.bytes = message.bytes();
  receipt.disk = std::chrono::nanoseconds(message.disk_ns());
  receipt.send = std::chrono::nanoseconds(message.send_ns());
  return receipt;
}

}  // namespace corail
