#include "engine/object/stripe_checksum.h"

#include <algorithm>

#include "engine/object/object_descriptor.h"

namespace corail {

Checksum64 stripe_checksum(std::span<const std::byte> stripe) noexcept {
  std::uint64_t sum = 0;
  std::uint32_t granule = 0;
  for (std::uint64_t at = 0; at < stripe.size(); at += kGranuleBytes, ++granule) {
    const std::uint64_t length = std::min<std::uint64_t>(kGranuleBytes, stripe.size() - at);
    sum += granule_term(xxh3_64(stripe.subspan(at, length)), granule);
  }
  return stripe_checksum(sum, stripe.size());
}

}  // namespace corail
