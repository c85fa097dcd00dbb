#include "engine/store/open_put.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/base/units.h"
#include "engine/object/descriptor_check.h"
#include "engine/object/placement.h"

namespace corail::detail {

Result<void> check_put(const PutRequest& request) {
  if (auto key = check_object_key(request.key); !key) return key;
  if (request.stripe_size == 0 || request.stripe_size % kGranuleBytes != 0 ||
      request.stripe_size > kMaxStripeBytes) {
    return Error(Errc::kInvalidArgument,
                 fmt::format("a stripe's size is a multiple of {} bytes, at most {}, not {}",
                             kGranuleBytes, kMaxStripeBytes, request.stripe_size));
  }
  const std::uint64_t stripes = stripes_of(request.size, request.stripe_size);
  if (stripes > kMaxObjectStripes || granules_of(request.size) > kMaxObjectGranules) {
    return Error(Errc::kTooLarge,
                 fmt::format("{} bytes in stripes of {} are too many: an object has at most {} "
                             "stripes and {} bytes; use larger stripes",
                             request.size, request.stripe_size, kMaxObjectStripes,
                             kMaxObjectGranules * kGranuleBytes));
  }
  return ok_result();
}

std::uint64_t memory_of(std::uint64_t size, std::uint64_t stripe_size) noexcept {
  return sizeof(StripingInfo) + granules_of(size) * sizeof(Checksum64) +
         stripes_of(size, stripe_size) * sizeof(ObjectChunk);
}

OpenPut::OpenPut(const PutRequest& request, ObjectGeneration generation, const ObjectNode& self,
                 std::uint32_t devices, std::shared_ptr<StripeSet> stripes)
    : if_generation(request.if_generation),
      key_(request.key),
      generation_(generation),
      size_(request.size),
      manifest_memory_(memory_of(request.size, request.stripe_size)),
      stripes_(std::move(stripes)) {
  ObjectDescriptor& object = info_.object;
  object.key = request.key;
  object.size = request.size;
  object.generation = generation;
  object.stripe_size = request.stripe_size;
  object.nodes = {self};
  const auto count = static_cast<std::uint32_t>(stripes_of(request.size, request.stripe_size));
  object.chunks.reserve(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    const StripePlace place = round_robin_place(i, request.stripe_size, devices);
    const std::uint64_t length = stripe_length(request.size, request.stripe_size, i);
    object.chunks.push_back({0, place.device, place.offset, length, Checksum64(0)});
  }
  missing_ = granules_of(request.size);
  info_.granules.resize(missing_);
  claimed_.resize(missing_);
}

Result<void> OpenPut::claim(std::uint32_t stripe, std::uint64_t offset, std::uint64_t length) {
  const ObjectDescriptor& object = info_.object;
  const auto refuse = [&](std::string_view why) {
    return Error(Errc::kInvalidArgument,
                 fmt::format("{} bytes at {} of stripe {} of '{}' cannot be written: {}", length,
                             offset, stripe, object.key, why));
  };
  if (stripe >= object.chunks.size()) {
    return refuse(fmt::format("it has {} stripes", object.chunks.size()));
  }
  const std::uint64_t end = checked_add(offset, length).value_or(0);
  const std::uint64_t stripe_end = object.chunks[stripe].length;
  if (length == 0 || end == 0 || end > stripe_end) {
    return refuse(fmt::format("the stripe has {} bytes", stripe_end));
  }
  if (offset % kGranuleBytes != 0 || (end % kGranuleBytes != 0 && end != stripe_end)) {
    return refuse(fmt::format("that is not whole granules of {} bytes", kGranuleBytes));
  }
  const auto first = claimed_.begin() + static_cast<std::ptrdiff_t>(first_granule(stripe, offset));
  const auto last = first + static_cast<std::ptrdiff_t>(granules_of(length));
  if (std::find(first, last, true) != last) return refuse("some of them were written already");
  std::fill(first, last, true);
  return ok_result();
}

void OpenPut::written(std::uint32_t stripe, std::uint64_t offset,
                      std::span<const Checksum64> hashes) {
  const auto first = static_cast<std::ptrdiff_t>(first_granule(stripe, offset));
  std::copy(hashes.begin(), hashes.end(), info_.granules.begin() + first);
  missing_ -= hashes.size();
}

Result<void> OpenPut::check_complete() const {
  if (broken) return *broken;
  if (writing > 0) {
    return Error(Errc::kInvalidArgument,
                 fmt::format("{} writes of the put of '{}' still run: commit it when they have "
                             "returned",
                             writing, info_.object.key));
  }
  if (missing_ == 0) return ok_result();
  return Error(Errc::kByteCountMismatch,
               fmt::format("the put of '{}' lacks {} of {} granules of {} bytes", info_.object.key,
                           missing_, info_.granules.size(), kGranuleBytes));
}

StripingInfo OpenPut::finish() {
  for (std::uint32_t i = 0; i < info_.object.chunks.size(); ++i) {
    ObjectChunk& chunk = info_.object.chunks[i];
    chunk.checksum = stripe_checksum_of(granules_of_stripe(info_, i), chunk.length);
  }
  return std::move(info_);
}

std::size_t OpenPut::first_granule(std::uint32_t stripe, std::uint64_t offset) const {
  return stripe * (info_.object.stripe_size / kGranuleBytes) + offset / kGranuleBytes;
}

}  // namespace corail::detail
