#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/memory/memory_registrar.h"
#include "engine/memory/slab.h"
#include "engine/memory/slab_chunk.h"

namespace corail {

struct SlabPoolOptions {
  std::uint64_t capacity_bytes = 16 * kGiB;  // most that is ever mapped
  std::uint64_t slab_bytes = 256 * kMiB;     // of one mapping, and most of one chunk
  SlabBacking backing = SlabBacking::kAnonymous;
  bool huge_pages = false;
  /// Where memory can be bound; a chunk for any other node lies wherever the kernel likes.
  std::vector<std::int32_t> numa_nodes = machine_numa_nodes();
  /// Devices that reads into the pool land through; every slab is registered with each.
  MemoryRegistrars registrars{};
};

namespace detail {
class PoolState;
}  // namespace detail

/// Destination memory of a requester: slabs per NUMA node that are mapped when first needed and
/// stay mapped, hence warm, until the pool ends or memory of another node needs their room. Owned
/// by the node. Thread-safe. Destroying it while chunks or pins live is fine: each slab is unmapped
/// after its last one.
class SlabPool {
 public:
  explicit SlabPool(SlabPoolOptions options);

  /// First fit over the slabs of the node, else a new slab, for which empty ones of other nodes are
  /// unmapped where the capacity wants it. The node may be a remote hint of any value: it is a
  /// label of the chunk, and slabs exist for `numa_nodes` only (I5). Fails with kInvalidArgument
  /// for 0 bytes, kTooLarge for more than slab_bytes, kOutOfMemory when capacity_bytes are in use
  /// or the kernel refuses. A new slab takes as long as the kernel needs to clear huge pages and
  /// devices to register it, an unmapped one as long as they need to forget it; nobody else waits
  /// for that.
  Result<SlabChunk> allocate(std::uint64_t bytes, std::int32_t numa_node);

  /// As allocate() where a slab that is mapped has room, else nothing: for threads that have no
  /// time to wait for the kernel.
  std::optional<SlabChunk> allocate_mapped(std::uint64_t bytes, std::int32_t numa_node);

  /// Bytes of chunks that are alive, rounded up to pages; quarantined ones included.
  std::uint64_t outstanding_bytes() const;
  std::uint64_t mapped_bytes() const;
  /// Chunks quarantined so far, and their bytes.
  std::uint64_t quarantined_chunks() const;
  std::uint64_t quarantined_bytes() const;
  /// One line per slab: Slab::describe().
  std::vector<std::string> describe() const;

 private:
  std::shared_ptr<detail::PoolState> state_;
};

}  // namespace corail
