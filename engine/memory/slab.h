#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/memory/memory_registrar.h"

namespace corail {

/// What memory a slab is made of. A memfd can be handed to another process; anonymous memory can
/// not.
enum class SlabBacking { kAnonymous, kMemfd };

/// As a NUMA node: wherever the kernel likes.
inline constexpr std::int32_t kAnyNumaNode = -1;

/// The NUMA nodes of this machine that memory can be bound to; none where the kernel knows no NUMA.
std::vector<std::int32_t> machine_numa_nodes();

struct SlabOptions {
  std::uint64_t bytes = 0;     // more than 0; rounded up to whole pages of the kind asked for
  std::int32_t numa_node = 0;  // where the pages should lie
  SlabBacking backing = SlabBacking::kAnonymous;
  bool huge_pages = false;  // reserved ones if there are, else transparent ones, else plain ones
};

/// One mapping of the process that the engine owns. Plain pages are not touched here: whoever
/// writes first decides when they are really allocated, NUMA binding decides where. Huge pages are.
///
/// Owned by a pool or an arena, which keeps it while any pin into it lives (contract 5). Free to
/// use from any thread; destroying it unmaps, so that must come last.
class Slab {
 public:
  /// Fails with kInvalidArgument for 0 bytes and kOutOfMemory when the kernel refuses to map. That
  /// there are no huge pages, or no such NUMA node, is no failure: describe() says so.
  static Result<std::unique_ptr<Slab>> create(const SlabOptions& options);

  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;
  ~Slab();

  std::byte* data() const noexcept { return data_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::int32_t numa_node() const noexcept { return numa_node_; }
  /// Whether the kernel was told to place the pages there; else the node is a label only.
  bool numa_bound() const noexcept { return numa_bound_; }
  /// Whether reserved huge pages back it.
  bool huge() const noexcept { return huge_; }
  /// Descriptor of a memfd, owned by the slab; -1 for anonymous memory.
  int memfd() const noexcept { return memfd_; }
  /// One line for people: size, backing, pages, and what was asked for but is not there.
  const std::string& describe() const noexcept { return description_; }

  /// Lets the devices know all of it, in pieces of `piece_bytes` (whole pages; the last one may be
  /// shorter). Their registrations are the slab's from here on and go before the mapping does. Once
  /// only, before anybody uses the slab; blocks while the pages are pinned.
  Result<void> register_with(const MemoryRegistrars& registrars, MemoryUse use,
                             std::uint64_t piece_bytes = MemoryRegistrar::kNoServedLimit);
  /// Of one piece, by index of the registrar, see keys_of(); empty where it was not registered.
  std::vector<std::uint64_t> keys(std::size_t piece = 0) const {
    return piece < registrations_.size() ? keys_of(registrations_[piece])
                                         : std::vector<std::uint64_t>();
  }

  /// Gives up the right to unmap: the bytes stay mapped and registered until the process ends. For
  /// memory that a device may still write into (contract 4).
  void keep_mapped_for_ever() noexcept { keep_mapped_ = true; }

 private:
  Slab() = default;

  std::byte* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::int32_t numa_node_ = 0;
  bool numa_bound_ = false;
  bool huge_ = false;
  bool keep_mapped_ = false;
  int memfd_ = -1;
  std::vector<MemoryRegistrations> registrations_;  // of each piece
  std::string description_;
};

}  // namespace corail
