#pragma once

#include <cstdint>
#include <memory>

#include "engine/memory/slab_pool.h"
#include "engine/store/memory_medium.h"

namespace corail::test {

/// What every store must do is tested over each of these. A kind makes the medium of a store, and
/// says whether objects outlive it.
class InMemory {
 public:
  static constexpr std::uint64_t kCapacity = 16 * kMiB;

  std::unique_ptr<ObjectMedium> medium() { return std::make_unique<MemoryMedium>(pool_); }
  bool nothing_left() const { return pool_.outstanding_bytes() == 0; }

 private:
  static SlabPoolOptions options() {
    SlabPoolOptions options;
    options.capacity_bytes = kCapacity;
    options.slab_bytes = 4 * kMiB;
    options.numa_nodes = {};
    return options;
  }

  SlabPool pool_{options()};
};

}  // namespace corail::test
