#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/base/units.h"
#include "engine/object/placement.h"
#include "engine/store/object_store_state.h"
#include "engine/store/object_store_turn.h"

namespace corail::detail {
namespace {

/// Whether the range is one of a stripe that this store has (I5).
Result<void> check_range(const StripingInfo& info, std::uint32_t stripe, std::uint64_t offset,
                         std::uint64_t length, ReadCheck check) {
  const ObjectDescriptor& object = info.object;
  const auto refuse = [&](std::string_view why) {
    return Error(Errc::kInvalidArgument,
                 fmt::format("{} bytes at {} of stripe {} of '{}' cannot be read: {}", length,
                             offset, stripe, object.key, why));
  };
  if (stripe >= object.chunks.size()) {
    return refuse(fmt::format("it has {} stripes", object.chunks.size()));
  }
  if (object.chunks[stripe].node != info.home) return refuse("the stripe is on another node");
  const std::uint64_t stripe_end = object.chunks[stripe].length;
  const auto end = checked_add(offset, length);
  if (!end || *end > stripe_end) return refuse(fmt::format("the stripe has {} bytes", stripe_end));
  const bool whole =
      offset % kGranuleBytes == 0 && (*end % kGranuleBytes == 0 || *end == stripe_end);
  if (check == ReadCheck::kVerify && !whole) {
    return refuse(fmt::format("only whole granules of {} bytes can be verified", kGranuleBytes));
  }
  return ok_result();
}

Result<void> verify(const StoredObject& object, std::uint32_t stripe, std::uint64_t offset,
                    std::span<const std::byte> bytes) {
  const auto expected = granules_of_stripe(*object.info, stripe).subspan(offset / kGranuleBytes);
  const std::vector<Checksum64> found = hash_granules(bytes);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected[i]) continue;
    return Error(Errc::kChecksumMismatch,
                 fmt::format("granule {} of stripe {} of '{}', generation {}, hashes to {:016x}, "
                             "but its checksum is {:016x}; it is {}: check that device",
                             offset / kGranuleBytes + i, stripe, object.info->object.key,
                             object.info->object.generation.value(), found[i].value(),
                             expected[i].value(), object.stripes->where(stripe)));
  }
  return ok_result();
}

}  // namespace

Task<Result<void>> ObjectStoreState::read(LeaseId lease, std::uint32_t stripe, std::uint64_t offset,
                                          std::span<std::byte> into, ReadCheck check) {
  const Running running(*this);
  if (auto open = check_open(); !open) co_return open.error();
  const auto found = leases_.find(lease);
  if (!found) co_return found.error();
  const std::shared_ptr<StoredObject> object = *found;
  if (auto sound = check_range(*object->info, stripe, offset, into.size(), check); !sound) {
    co_return std::move(sound).error();
  }
  ++object->users;
  auto result = co_await object->stripes->read(stripe, offset, into);
  if (result && check == ReadCheck::kVerify) result = verify(*object, stripe, offset, into);
  --object->users;
  forget_if_unused(object);
  co_return result;
}

Result<ObjectPlaces> ObjectStoreState::places(LeaseId lease) {
  const auto found = leases_.find(lease);
  if (!found) return found.error();
  const StoredObject& object = **found;
  ObjectPlaces places;
  places.in_memory = object.stripes->in_memory();
  if (!places.in_memory) return places;
  const std::vector<ObjectChunk>& chunks = object.info->object.chunks;
  places.stripes.reserve(chunks.size());
  for (std::uint32_t i = 0; i < chunks.size(); ++i) {
    if (chunks[i].node == object.info->home) places.stripes.push_back(object.stripes->memory(i));
  }
  return places;
}

Result<PinnedBytes> ObjectStoreState::pin(LeaseId lease, std::uint64_t offset,
                                          std::uint64_t length) {
  const auto found = leases_.find(lease);
  if (!found) return found.error();
  const StoredObject& object = **found;
  // An index beyond 32 bits would wrap, so it is compared before it is one (I5).
  const std::uint64_t stripe = offset / object.info->object.stripe_size;
  const auto index = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(stripe, object.info->object.chunks.size()));
  const std::uint64_t within = offset % object.info->object.stripe_size;
  auto sound = check_range(*object.info, index, within, length, ReadCheck::kNone);
  if (!sound) return std::move(sound).error();
  if (!object.stripes->in_memory()) return PinnedBytes();
  StripeMemory memory = object.stripes->memory(index);
  return PinnedBytes(memory.bytes.bytes.subspan(within, length), std::move(memory.bytes.pin));
}

}  // namespace corail::detail
