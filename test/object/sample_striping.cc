#include "test/object/sample_striping.h"

#include <algorithm>

#include "engine/base/checksum.h"
#include "engine/object/descriptor_check.h"
#include "engine/object/placement.h"

namespace corail::test {

StripingInfo sample_striping(std::uint64_t size) {
  StripingInfo info;
  info.object.key = "weights/shard-3";
  info.object.size = size;
  info.object.generation = ObjectGeneration(7);
  info.object.stripe_size = 2 * kGranuleBytes;
  info.object.nodes = {{NodeId(1), {"10.0.0.1:7700", "10.0.1.1:7700"}},
                       {NodeId(2), {"10.0.0.2:7700"}}};
  info.home = 1;
  const auto stripes = static_cast<std::uint32_t>(stripes_of(size, info.object.stripe_size));
  for (std::uint32_t i = 0; i < stripes; ++i) {
    const StripePlace place = round_robin_place(i, info.object.stripe_size, 3);
    const std::uint64_t length = stripe_length(size, info.object.stripe_size, i);
    info.object.chunks.push_back({1, place.device, place.offset, length, Checksum64(0)});
  }
  for (std::uint64_t i = 0; i < granules_of(size); ++i) info.granules.emplace_back(mix64(i + 1));
  refit_checksums(info);
  return info;
}

void refit_checksums(StripingInfo& info) {
  for (std::uint32_t i = 0; i < info.object.chunks.size(); ++i) {
    ObjectChunk& chunk = info.object.chunks[i];
    chunk.checksum = stripe_checksum_of(granules_of_stripe(info, i), chunk.length);
  }
}

}  // namespace corail::test
