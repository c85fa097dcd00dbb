#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/ids.h"
#include "engine/memory/extent_allocator.h"
#include "engine/memory/slab.h"
#include "engine/store/shape.h"

namespace corail::detail {

/// One NUMA node's memory of a store: one slab, published as one region, or as several where a
/// device serves no more under one key. What is allocated lies in one of them (I4). Shared by the
/// store and every extent, so it stays mapped while bytes of it are leased or pinned (contract 5).
/// Any thread.
class Arena {
 public:
  /// The regions are pieces of the slab, in order: `piece_bytes` each, the last one the rest.
  Arena(std::unique_ptr<Slab> slab, std::vector<RegionId> regions, std::uint64_t piece_bytes)
      : slab_(std::move(slab)), regions_(std::move(regions)), piece_bytes_(piece_bytes) {
    for (std::uint64_t at = 0; at < slab_->bytes();) {
      spaces_.emplace_back(std::min(piece_bytes, slab_->bytes() - at));
      at += spaces_.back().capacity();
    }
  }

  const Slab& slab() const noexcept { return *slab_; }
  const std::vector<RegionId>& regions() const noexcept { return regions_; }
  RegionId region_at(std::uint64_t offset) const noexcept { return regions_[piece_of(offset)]; }
  /// The first byte of that region.
  const std::byte* region_data(std::uint64_t offset) const noexcept {
    return slab_->data() + piece_of(offset) * piece_bytes_;
  }
  std::uint64_t base() const noexcept { return reinterpret_cast<std::uint64_t>(slab_->data()); }
  /// The most that can be allocated at once.
  std::uint64_t longest() const noexcept { return spaces_.front().capacity(); }

  std::optional<std::uint64_t> allocate(std::uint64_t bytes, std::uint64_t alignment) {
    const std::lock_guard lock(mutex_);
    for (std::size_t piece = 0; piece < spaces_.size(); ++piece) {
      const auto offset = spaces_[piece].allocate(bytes, alignment);
      if (offset) return piece * piece_bytes_ + *offset;
    }
    return std::nullopt;
  }
  void free(std::uint64_t offset, std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    const std::size_t piece = piece_of(offset);
    spaces_[piece].free(offset - piece * piece_bytes_, bytes);
  }
  std::uint64_t free_bytes() const {
    const std::lock_guard lock(mutex_);
    std::uint64_t bytes = 0;
    for (const ExtentAllocator& space : spaces_) bytes += space.free_bytes();
    return bytes;
  }

 private:
  std::size_t piece_of(std::uint64_t offset) const noexcept { return offset / piece_bytes_; }

  const std::unique_ptr<Slab> slab_;
  const std::vector<RegionId> regions_;
  const std::uint64_t piece_bytes_;
  mutable std::mutex mutex_;
  std::vector<ExtentAllocator> spaces_;  // of each region
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
  RegionId region() const noexcept { return arena_->region_at(offset_); }
  const std::byte* region_data() const noexcept { return arena_->region_data(offset_); }
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
