#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "engine/memory/memory_registrar.h"
#include "engine/verbs/memory_key.h"
#include "engine/verbs/queue_pair.h"

namespace corail {

/// The memory that one port's device knows, and under which keys. What is served has one key, which
/// lets peers read and nothing else, and is no longer than that; what reads land in is registered
/// in pieces no longer than the device takes.
///
/// Shared by the port and every registration, which may outlive it. Any thread.
class VerbsMemory final : public MemoryRegistrar, public std::enable_shared_from_this<VerbsMemory> {
 public:
  /// `max_region_bytes`: 0, or less than the device's limit.
  VerbsMemory(std::shared_ptr<const ProtectionDomain> pd, std::uint64_t max_region_bytes);

  Result<std::unique_ptr<const MemoryRegistration>> add(std::span<std::byte> bytes,
                                                        MemoryUse use) override;

  std::uint64_t max_served_bytes() const noexcept override { return piece_bytes_; }

  /// Pieces of a destination with their keys: how many of `pieces` were filled; 0 where not all of
  /// it is registered, or it would take more.
  std::size_t find(std::byte* destination, std::uint64_t length,
                   std::span<LocalPiece, kWishedSegments> pieces) const;

  /// As much of the beginning of `bytes` as lies in one registration, as requests name what they
  /// send; of length 0 where nothing does.
  LocalPiece find_source(std::span<const std::byte> bytes) const;

  /// Lets whoever has the key write into these bytes. Blocks as add() does. Fails with kTooLarge
  /// for more than the device registers at once, whatever max_region_bytes says: a slice is under
  /// one key.
  Result<std::unique_ptr<const MemoryKey>> add_write_key(std::span<std::byte> bytes) const;

  /// Bytes of every piece but a registration's last.
  std::uint64_t piece_bytes() const noexcept { return piece_bytes_; }

 private:
  class Landing;
  class Served;
  struct Known {
    std::uint64_t length = 0;
    std::uint32_t key = 0;
  };

  void forget_landing(std::span<std::byte> bytes);
  void forget_served(std::span<std::byte> bytes, std::uint32_t key);

  const std::shared_ptr<const ProtectionDomain> pd_;
  const std::uint64_t piece_bytes_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, Known> landing_;      // by address
  std::multimap<std::uint64_t, Known> served_;  // likewise; the same bytes may be served twice
};

}  // namespace corail
