#include "engine/verbs/memory_key.h"

#include <fmt/core.h>

#include <cerrno>

#include "engine/verbs/verbs_api.h"
#include "engine/verbs/verbs_error.h"

namespace corail {
namespace {

unsigned flags_of(MemoryAccess access) noexcept {
  // Relaxed ordering is safe where a completion is ordered behind all that it completes. Of a
  // peer's WRITEs only the last has one here, which says of the others only what order says.
  switch (access) {
    case MemoryAccess::kLandReads:
      return unsigned{IBV_ACCESS_LOCAL_WRITE} | IBV_ACCESS_RELAXED_ORDERING;
    case MemoryAccess::kRemoteRead:
      return unsigned{IBV_ACCESS_REMOTE_READ} | IBV_ACCESS_RELAXED_ORDERING;
    case MemoryAccess::kPeerWrites:
      return unsigned{IBV_ACCESS_LOCAL_WRITE} | IBV_ACCESS_REMOTE_WRITE;
  }
  return 0;
}

}  // namespace

Result<std::unique_ptr<const MemoryKey>> MemoryKey::make(std::shared_ptr<const ProtectionDomain> pd,
                                                         std::span<std::byte> bytes,
                                                         MemoryAccess access) {
  const Device& device = pd->device();
  if (bytes.size() > device.limits().max_region_bytes) {
    return Error(Errc::kTooLarge, Stage::kSetup,
                 fmt::format("{} registers at most {} bytes at once, not {}; give the node its "
                             "memory in smaller slabs",
                             device.name(), device.limits().max_region_bytes, bytes.size()));
  }
  // Our own requests, and orders of ours, name memory by its address, those of peers by its offset.
  const std::uint64_t base =
      access == MemoryAccess::kRemoteRead ? 0 : reinterpret_cast<std::uint64_t>(bytes.data());
  ibv_mr* const mr =
      device.api().reg_mr_iova(pd->handle(), bytes.data(), bytes.size(), base, flags_of(access));
  if (mr == nullptr) return verbs_error(Stage::kSetup, "reg_mr", device.name(), errno);
  return std::unique_ptr<const MemoryKey>(new MemoryKey(std::move(pd), mr));
}

MemoryKey::MemoryKey(std::shared_ptr<const ProtectionDomain> pd, ibv_mr* mr)
    : pd_(std::move(pd)), mr_(mr), local_(mr->lkey), remote_(mr->rkey) {}

MemoryKey::~MemoryKey() { pd_->device().api().dereg_mr(mr_); }

}  // namespace corail
