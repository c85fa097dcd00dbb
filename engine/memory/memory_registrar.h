#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/result.h"

namespace corail {

/// What devices will do with memory.
enum class MemoryUse {
  kLanding,  // reads of this process land in it
  kServed    // peers read it
};

/// What one device knows of some memory, for as long as this lives. Destroyed before the memory
/// goes (contract 5), on any thread, which may block for a while.
class MemoryRegistration {
 public:
  virtual ~MemoryRegistration() = default;
  /// What a peer needs to read it; 0 where peers may not.
  virtual std::uint64_t key() const noexcept = 0;
};

/// A port's device, as those see it who own memory. Shared with its registrations, which may
/// outlive the port. Any thread.
class MemoryRegistrar {
 public:
  virtual ~MemoryRegistrar() = default;

  /// Blocks while the kernel pins the pages: not for a rail's thread. `bytes` are whole pages, but
  /// for a caller's own that reads land in.
  virtual Result<std::unique_ptr<const MemoryRegistration>> add(std::span<std::byte> bytes,
                                                                MemoryUse use) = 0;

  /// The longest memory that one registration serves, in whole pages.
  virtual std::uint64_t max_served_bytes() const noexcept { return kNoServedLimit; }

  static constexpr std::uint64_t kNoServedLimit = ~std::uint64_t{0};
};

/// The registrars of a node's ports, by index; null where a port's transport needs none.
using MemoryRegistrars = std::vector<std::shared_ptr<MemoryRegistrar>>;

/// Registrations by index of the registrar; null where that is.
using MemoryRegistrations = std::vector<std::unique_ptr<const MemoryRegistration>>;

/// Registers the bytes with all of them, each on a thread of its own where there are several: it is
/// the kernel that takes long. One that fails undoes the others, and its error is returned.
Result<MemoryRegistrations> register_everywhere(const MemoryRegistrars& registrars,
                                                std::span<std::byte> bytes, MemoryUse use);

/// The longest memory that all of them serve under one registration each.
std::uint64_t max_served_bytes(const MemoryRegistrars& registrars) noexcept;

/// The keys of registrations, 0 where there is none.
std::vector<std::uint64_t> keys_of(const MemoryRegistrations& registrations);

}  // namespace corail
