#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "engine/base/result.h"
#include "engine/memory/callers_memory.h"
#include "engine/memory/memory_registrar.h"

namespace corail {

/// The memory of callers that a node's devices know, no byte of it twice: devices find what they
/// know by its address. Made by the node as a std::shared_ptr, which every piece of memory shares.
/// Thread-safe.
class LandingRegistry : public std::enable_shared_from_this<LandingRegistry> {
 public:
  /// `registrars`: the devices of all ports; none where no port needs to know.
  explicit LandingRegistry(MemoryRegistrars registrars);

  /// Registers the bytes with all devices, or none; blocks while the kernel pins their pages. They
  /// are the caller's, and stay valid until CallersMemory::forget(). Fails with kInvalidArgument
  /// for no bytes, and for some that are registered already; and with what a device says.
  Result<std::shared_ptr<CallersMemory>> add(std::span<std::byte> bytes);

  /// Of all memory that is registered, or being so.
  std::uint64_t bytes() const;

 private:
  friend class CallersMemory;

  Result<void> claim(std::span<std::byte> bytes);
  Result<std::shared_ptr<CallersMemory>> make(std::span<std::byte> bytes) noexcept;
  void remove(std::span<std::byte> bytes);

  const MemoryRegistrars registrars_;
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> lengths_;  // by address
};

}  // namespace corail
