#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/base/result.h"
#include "engine/verbs/protection_domain.h"

struct ibv_mr;

namespace corail {

/// What a device may do with memory.
enum class MemoryAccess {
  kLandReads,   // our own READs write into it; nobody else may touch it
  kRemoteRead,  // whoever has the key may read it, and nothing more
  kPeerWrites,  // whoever has the key may write into it, and nothing more
};

/// One registration: the pages stay in place and the device knows them. Addresses that a peer reads
/// from count from the first byte, so that a key and an offset are all that it needs; those that it
/// writes to are the memory's own.
///
/// Owned by whoever owns the memory; goes before the memory does, and after the last request that
/// uses it (contract 5). Immutable; any thread may destroy it, which blocks while the kernel lets
/// go of the pages.
class MemoryKey {
 public:
  /// Blocks while the kernel pins every page: not for a rail's thread.
  /// Fails with kTooLarge beyond the device's limit, kOutOfMemory, kRailFailed.
  static Result<std::unique_ptr<const MemoryKey>> make(std::shared_ptr<const ProtectionDomain> pd,
                                                       std::span<std::byte> bytes,
                                                       MemoryAccess access);
  ~MemoryKey();
  MemoryKey(const MemoryKey&) = delete;
  MemoryKey& operator=(const MemoryKey&) = delete;

  std::uint32_t local() const noexcept { return local_; }
  std::uint32_t remote() const noexcept { return remote_; }

 private:
  MemoryKey(std::shared_ptr<const ProtectionDomain> pd, ibv_mr* mr);

  const std::shared_ptr<const ProtectionDomain> pd_;
  ibv_mr* const mr_;
  const std::uint32_t local_;
  const std::uint32_t remote_;
};

}  // namespace corail
