#include <string_view>
#include <utility>

#include "engine/object/descriptor_check.h"
#include "proto/corail/v1/puts.pb.h"
#include "rpc/codec_fields.h"
#include "rpc/put_codec.h"

namespace corail {
namespace {

constexpr std::string_view kBegin = "BeginPutRequest";
constexpr std::string_view kBegun = "BeginPutAnswer";
constexpr std::string_view kStripe = "PutStripeRequest";

Result<void> check_sizes(const v1::BeginPutRequest& message) {
  const std::uint64_t stripe_size = message.stripe_size();
  if (stripe_size == 0 || stripe_size > kMaxStripeBytes || stripe_size % kGranuleBytes != 0) {
    return codec::field_error(kBegin, "stripe_size", "is {}, allowed are multiples of {} up to {}",
                              stripe_size, kGranuleBytes, kMaxStripeBytes);
  }
  const std::uint64_t stripes = stripes_of(message.size(), stripe_size);
  if (stripes <= kMaxObjectStripes) return ok_result();
  return codec::field_error(kBegin, "size", "makes {} stripes, more than the {} allowed", stripes,
                            kMaxObjectStripes);
}

}  // namespace

FrameBuffer encode_begin_put(const PutRequest& request) {
  v1::BeginPutRequest message;
  message.set_key(request.key);
  message.set_size(request.size);
  message.set_stripe_size(request.stripe_size);
  if (request.if_generation) message.set_if_generation(request.if_generation->value());
  return codec::to_frame(message);
}

Result<PutRequest> decode_begin_put(std::span<const std::byte> body) {
  v1::BeginPutRequest message;
  const auto parsed = codec::parse(kBegin, body, message);
  if (!parsed.ok()) return parsed.error();
  if (message.key().empty()) return codec::field_error(kBegin, "key", "is empty");
  auto fits = codec::check_length(kBegin, "key", message.key().size(), kMaxObjectKeyBytes);
  if (!fits.ok()) return std::move(fits).error();
  auto sizes = check_sizes(message);
  if (!sizes.ok()) return std::move(sizes).error();
  PutRequest request;
  request.key = std::move(*message.mutable_key());
  request.size = message.size();
  request.stripe_size = message.stripe_size();
  if (message.has_if_generation()) {
    request.if_generation = ObjectGeneration(message.if_generation());
  }
  return request;
}

FrameBuffer encode_begin_put_answer(ObjectGeneration put) {
  v1::BeginPutAnswer message;
  message.set_generation(put.value());
  return codec::to_frame(message);
}

Result<ObjectGeneration> decode_begin_put_answer(std::span<const std::byte> body) {
  v1::BeginPutAnswer message;
  const auto parsed = codec::parse(kBegun, body, message);
  if (!parsed.ok()) return parsed.error();
  if (message.generation() == 0) return codec::field_error(kBegun, "generation", "is 0");
  return ObjectGeneration(message.generation());
}

FrameBuffer encode_put_stripe(const PutStripeRequest& request) {
  v1::PutStripeRequest message;
  message.set_generation(request.put.value());
  message.set_stripe(request.stripe);
  message.set_read_id(request.read.value());
  message.set_table_generation(request.regions.value());
  message.set_address(request.address);
  message.set_checksum(request.checksum.value());
  return codec::to_frame(message);
}

Result<PutStripeRequest> decode_put_stripe(std::span<const std::byte> body) {
  v1::PutStripeRequest message;
  const auto parsed = codec::parse(kStripe, body, message);
  if (!parsed.ok()) return parsed.error();
  if (message.generation() == 0) return codec::field_error(kStripe, "generation", "is 0");
  if (message.stripe() >= kMaxObjectStripes) {
    return codec::field_error(kStripe, "stripe", "is {}, an object has at most {}",
                              message.stripe(), kMaxObjectStripes);
  }
  PutStripeRequest request;
  request.put = ObjectGeneration(message.generation());
  request.stripe = message.stripe();
  request.read = ReadId(message.read_id());
  request.regions = TableGeneration(message.table_generation());
  request.address = message.address();
  request.checksum = Checksum64(message.checksum());
  if (is_put_read(request.read)) return request;
  return codec::field_error(kStripe, "read_id", "is {}, those of puts begin at {}",
                            message.read_id(), kFirstPutRead);
}

FrameBuffer encode_end_put(ObjectGeneration put) {
  // Both requests have one field, of one number and type.
  v1::CommitPutRequest message;
  message.set_generation(put.value());
  return codec::to_frame(message);
}

static_assert(int{v1::CommitPutRequest::kGenerationFieldNumber} ==
              int{v1::AbortPutRequest::kGenerationFieldNumber});

Result<ObjectGeneration> decode_end_put(Method method, std::span<const std::byte> body) {
  const std::string_view name = limits_of(method).name;
  v1::CommitPutRequest message;
  const auto parsed = codec::parse(name, body, message);
  if (!parsed.ok()) return parsed.error();
  if (message.generation() == 0) return codec::field_error(name, "generation", "is 0");
  return ObjectGeneration(message.generation());
}

}  // namespace corail
