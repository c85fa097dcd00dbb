#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>

#include "engine/base/result.h"
#include "engine/memory/memory_registrar.h"
#include "engine/memory/slab_chunk.h"

namespace corail {

class LandingRegistry;

/// Memory of a caller's own that reads land in, known to the devices of all ports until forget().
///
/// Shared by its handle and by whatever names it, neither of which keeps it registered. What does
/// are the pins of reads (contract 5): no forget() while there are any. The bytes are the caller's,
/// valid until forget() has returned. Thread-safe.
class CallersMemory : public std::enable_shared_from_this<CallersMemory> {
 public:
  /// For LandingRegistry, which knows which memory is registered already.
  CallersMemory(std::shared_ptr<LandingRegistry> registry, std::span<std::byte> bytes,
                MemoryRegistrations registrations);
  ~CallersMemory();
  CallersMemory(const CallersMemory&) = delete;
  CallersMemory& operator=(const CallersMemory&) = delete;

  std::span<std::byte> bytes() const noexcept { return bytes_; }
  /// Whether it is registered with the devices that this registry knows.
  bool is_of(const LandingRegistry* registry) const noexcept { return registry_.get() == registry; }

  /// A part of it for a read to land in, pinned. Fails with kInvalidArgument for what is empty or
  /// not inside, kClosed once it retires.
  Result<SlabChunk> pin(std::uint64_t offset, std::uint64_t length);

  /// There are no new pins from now on. Calls `when_free` once, when there is none any more: at
  /// once, or on the thread where the last one goes. Once only.
  void retire(std::function<void()> when_free);
  /// The same where there is none already; false, and nothing changes, where there is.
  bool try_retire() noexcept;

  /// The devices forget it, for which this blocks. Once retired and free.
  void forget();

 private:
  class Part;

  void unpin() noexcept;

  const std::shared_ptr<LandingRegistry> registry_;
  const std::span<std::byte> bytes_;
  MemoryRegistrations registrations_;
  std::mutex mutex_;
  std::uint64_t pins_ = 0;
  bool retired_ = false;
  bool forgotten_ = false;
  std::function<void()> when_free_;
};

}  // namespace corail
