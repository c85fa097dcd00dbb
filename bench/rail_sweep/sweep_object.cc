#include "bench/rail_sweep/sweep_object.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <utility>

#include "engine/base/checksum.h"
#include "engine/object/stripe_checksum.h"

namespace corail::bench {

SweepObject::SweepObject(std::uint64_t size, std::uint64_t stripe_size) : memory_(size) {
  for (std::uint64_t at = 0; at < size; at += sizeof(std::uint64_t)) {
    const std::uint64_t word = mix64(at + 1);
    std::memcpy(memory_.data() + at, &word, std::min<std::uint64_t>(sizeof word, size - at));
  }
  Region region;
  region.base = reinterpret_cast<std::uintptr_t>(memory_.data());
  region.length = size;
  regions_ = RegionTable::make(TableGeneration(1), {region}).value();
  auto descriptor = std::make_shared<ObjectDescriptor>();
  descriptor->key = "sweep";
  descriptor->size = size;
  descriptor->generation = ObjectGeneration(1);
  descriptor->stripe_size = stripe_size;
  descriptor->nodes.push_back({NodeId(1), {"this process"}});
  StripeSource source;
  source.regions = &regions_;
  for (std::uint64_t at = 0; at < size; at += stripe_size) {
    ObjectChunk chunk;
    chunk.offset = at;
    chunk.length = std::min(stripe_size, size - at);
    chunk.checksum = stripe_checksum(std::span(memory_).subspan(at, chunk.length));
    source.stripes.push_back(
        {static_cast<std::uint32_t>(descriptor->chunks.size()), region.base + at});
    descriptor->chunks.push_back(chunk);
  }
  sources_.push_back(std::move(source));
  descriptor_ = std::move(descriptor);
}

Result<PinnedBytes> SweepObject::admit(SessionId, ReadContext, RegionId, std::uint64_t offset,
                                       std::uint64_t length) {
  if (offset > memory_.size() || length > memory_.size() - offset) {
    return Error(Errc::kRefused, "outside of the object");
  }
  return PinnedBytes(std::span(memory_).subspan(offset, length), Pin());
}

Result<ObjectPlan> SweepObject::plan(std::uint64_t max_read_bytes) const {
  PlanLimits limits;
  limits.max_read_bytes = max_read_bytes;
  return plan_object_read(descriptor_, sources_, ObjectDemand::whole(memory_.size()), limits);
}

bool SweepObject::has_at(std::uint64_t offset, std::span<const std::byte> bytes) const {
  return bytes.size() <= memory_.size() - offset &&
         std::memcmp(memory_.data() + offset, bytes.data(), bytes.size()) == 0;
}

}  // namespace corail::bench
