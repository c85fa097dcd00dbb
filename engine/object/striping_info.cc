#include "engine/object/striping_info.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <utility>

#include "engine/base/checksum.h"
#include "engine/object/descriptor_check.h"
#include "engine/object/placement.h"
#include "engine/object/stripe_checksum.h"

namespace corail {

std::span<const Checksum64> granules_of_stripe(const StripingInfo& info, std::uint32_t stripe) {
  const std::uint64_t before = stripe * (info.object.stripe_size / kGranuleBytes);
  return std::span(info.granules).subspan(before, granules_of(info.object.chunks[stripe].length));
}

std::vector<Checksum64> hash_granules(std::span<const std::byte> bytes) {
  std::vector<Checksum64> hashes;
  hashes.reserve(granules_of(bytes.size()));
  for (std::uint64_t at = 0; at < bytes.size(); at += kGranuleBytes) {
    const std::uint64_t length = std::min<std::uint64_t>(kGranuleBytes, bytes.size() - at);
    hashes.emplace_back(xxh3_64(bytes.subspan(at, length)));
  }
  return hashes;
}

Checksum64 stripe_checksum_of(std::span<const Checksum64> granules, std::uint64_t length) noexcept {
  std::uint64_t sum = 0;
  std::uint32_t index = 0;
  for (const Checksum64 granule : granules) sum += granule_term(granule.value(), index++);
  return stripe_checksum(sum, length);
}

Result<void> check_object_key(std::string_view key) {
  if (!key.empty() && key.size() <= kMaxObjectKeyBytes) return ok_result();
  return Error(Errc::kInvalidArgument, fmt::format("an object's key has 1 to {} bytes, not {}",
                                                   kMaxObjectKeyBytes, key.size()));
}

Result<void> check_striping(const StripingInfo& info) {
  const ObjectDescriptor& object = info.object;
  if (auto sound = check_descriptor(object); !sound) {
    return Error(Errc::kBadManifest, sound.error().detail());
  }
  const auto wrong = [&object](std::string what) {
    return Error(Errc::kBadManifest,
                 fmt::format("the manifest of object '{}' {}", object.key, std::move(what)));
  };
  if (info.home >= object.nodes.size()) {
    return wrong(fmt::format("says that its store is node {} of {}, counted from 0", info.home,
                             object.nodes.size()));
  }
  const std::uint64_t granules = granules_of(object.size);
  if (granules > kMaxObjectGranules) {
    return wrong(fmt::format("has {} bytes, more than the {} allowed", object.size,
                             kMaxObjectGranules * kGranuleBytes));
  }
  if (info.granules.size() != granules) {
    return wrong(fmt::format("has checksums of {} granules, but its {} bytes have {}",
                             info.granules.size(), object.size, granules));
  }
  for (std::uint32_t i = 0; i < object.chunks.size(); ++i) {
    const ObjectChunk& chunk = object.chunks[i];
    if (stripe_checksum_of(granules_of_stripe(info, i), chunk.length) != chunk.checksum) {
      return wrong(fmt::format("has a checksum of stripe {} that is not made of its granules'", i));
    }
  }
  return ok_result();
}

}  // namespace corail
