#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "engine/base/ids.h"
#include "engine/memory/extent_allocator.h"
#include "engine/memory/slab.h"
#include "engine/store/shape.h"

namespace corail::detail {

/// One NUMA node's memory of a store: one slab, published as one region. Shared by the store and
/// every extent, so it stays mapped while bytes of it are leased or pinned (contract 5). Any
/// thread.
class Arena {
 public:
  Arena(std::unique_ptr<Slab> slab, RegionId region)
      : slab_(std::move(slab)), region_(region), space_(slab_->bytes()) {}

  const Slab& slab() const noexcept { return *slab_; }
  RegionId region() const noexcept { return region_; }
  std::uint64_t base() const noexcept { return reinterpret_cast<std::uint64_t>(slab_->data()); }

  std::optional<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t alignment) {
    const std::lock_guard lock(mutex_);
    return space_.allocate(bytes, alignment);
  }
  void free(std::uint64_t offset, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    space_.free(offset, bytes);
  }
  std::uint64_t free_bytes() const {
    const std::lock_guard lock(mutex_);
    return space_.free_bytes();
  }

 private:
  const std::unique_ptr<Slab> slab_;
  const RegionId region_;
  mutable std::mutex mutex_;
  ExtentAllocator space_;
};

/// The bytes of one part of some consecutive blocks of a save. Shared by the index, leases and
/// pins; the bytes go back to the arena with the last of them, on whichever thread that happens
/// (I6). Immutable but for the bytes and their term sums, which only an unsealed save writes.
class Extent {
 public:
  Extent(std::shared_ptr<Arena> arena, std::shared_ptr<const Shape> shape, std::uint64_t offset,
         std::uint32_t blocks)
      : arena_(std::move(arena)),
        shape_(std::move(shape)),
        offset_(offset),
        blocks_(blocks),
        term_sums_(
            std::make_unique_for_overwrite<std::uint64_t[]>(std::uint64_t{blocks} * lanes())) {}
  Extent(const Extent&) = delete;
  Extent& operator=(const Extent&) = delete;
  ~Extent() { arena_->free(offset_, bytes()); }

  const Arena& arena() const noexcept { return *arena_; }
  const Shape& shape() const noexcept { return *shape_; }
  std::uint64_t base() const noexcept { return arena_->base() + offset_; }
  std::uint64_t bytes() const noexcept { return blocks_ * shape_->part().bytes; }
  std::uint32_t blocks() const noexcept { return blocks_; }

  std::byte* segment(std::uint32_t index, std::uint32_t rank) const noexcept {
    return arena_->slab().data() + offset_ + shape_->offset(rank) + index * shape_->stride(rank);
  }
  std::uint32_t lanes() const noexcept {
    return static_cast<std::uint32_t>(shape_->part().lanes.size());
  }

  /// What the checksum terms of the lanes of ranks [0, rank] add up to, in the block at `index`, as
  /// they were when the block was saved. A range of lanes is a difference of two of them, so that a
  /// part of a block can be verified by itself, whatever its number of segments. They take 8 bytes
  /// a segment.
  std::uint64_t& term_sum(std::uint32_t index, std::uint32_t rank) const noexcept {
    return term_sums_[std::uint64_t{index} * lanes() + rank];
  }

 private:
  const std::shared_ptr<Arena> arena_;
  const std::shared_ptr<const Shape> shape_;
  const std::uint64_t offset_;
  const std::uint32_t blocks_;
  const std::unique_ptr<std::uint64_t[]> term_sums_;
};

}  // namespace corail::detail
