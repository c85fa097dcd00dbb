#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/memory/memory_registrar.h"
#include "engine/memory/pin.h"
#include "engine/memory/region_registry.h"
#include "engine/rail/rail_door.h"

namespace corail {

/// Memory of one put, in one region that peers may read. Shared by the put and by the pins into it;
/// with the last share it goes back to the sources. Any thread.
class PutMemory {
 public:
  virtual ~PutMemory() = default;
  virtual std::span<std::byte> bytes() const noexcept = 0;
  virtual RegionId region() const noexcept = 0;
};

/// What may be pulled under one read id.
struct PutOffer {
  std::shared_ptr<PutMemory> memory;
  std::uint64_t offset = 0;  // bytes, in the memory
  std::uint64_t length = 0;
  Pin pin;  // held by each admitted slice until it was sent (I6)
};

/// What homes of this node's puts may read: memory of puts under way, published as regions with
/// keys that let peers read and never write, and nothing of it but what a call of PutStripe offers
/// while it is under way.
///
/// Owned by the node, closed doors and the last pin go before it. Memory that no put uses stays
/// mapped, for the next ones, as long as all of it together is at most `keep_bytes`. Thread-safe.
class PutSources final : public LeaseGate {
 public:
  /// The registry outlives it, and every piece of memory.
  PutSources(RegionRegistry& registry, MemoryRegistrars registrars, std::uint64_t keep_bytes);
  ~PutSources() override;

  /// At least `bytes`, more than 0. Blocks while the kernel maps and devices register it. Fails
  /// with kOutOfMemory, kTooLarge (regions), or what a device says.
  Result<std::shared_ptr<PutMemory>> take(std::uint64_t bytes);

  /// The table of regions, at least as new as what was taken.
  TableGeneration table() const;

  /// Whoever knows the id may pull the bytes, until withdraw(). The id is not in use.
  void offer(ReadId read, PutOffer offer);
  /// No slice is admitted any more; pins of those that were may live on.
  void withdraw(ReadId read);

  Result<PinnedBytes> admit(SessionId session, ReadContext context, RegionId region,
                            std::uint64_t offset, std::uint64_t length) override;

  std::uint64_t mapped_bytes() const;
  /// Bytes of memory that puts or pins still use.
  std::uint64_t bytes_in_use() const;
  std::size_t offers() const;

 private:
  class State;
  const std::shared_ptr<State> state_;
};

}  // namespace corail
