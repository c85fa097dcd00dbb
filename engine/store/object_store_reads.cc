#include <fmt/core.h>

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

}  // namespace corail::detail
