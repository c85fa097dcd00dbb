#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "engine/base/checksum.h"
#include "engine/plan/layout.h"
#include "engine/store/store_types.h"

namespace corail::detail {

/// Where one part of a block is: which extent of the ExtentTable, and which block of it.
struct PartRef {
  std::uint32_t extent = 0;
  std::uint32_t index = 0;
};

/// No block, no neighbour.
inline constexpr std::uint32_t kNoSlot = 0xFFFFFFFF;

/// One sealed block: a cache line, and nothing per lane. The layout is kept alive by its extents.
struct alignas(64) Block {
  Checksum64 checksum;
  const Layout* layout = nullptr;
  std::uint64_t seen_by = 0;      // the query that met it last, to find a hash that is asked twice
  std::uint32_t older = kNoSlot;  // neighbours in order of use
  std::uint32_t newer = kNoSlot;
  std::uint32_t name_space = 0;
  std::uint16_t part_count = 0;  // 0: the slot is free
  std::uint8_t hash_bytes = 0;
  std::array<PartRef, 2> few;       // the parts, where there are no more than two
  std::unique_ptr<PartRef[]> many;  // the parts, where there are more

  std::span<const PartRef> parts() const noexcept {
    return {part_count <= few.size() ? few.data() : many.get(), part_count};
  }
};
static_assert(sizeof(Block) == 64);

/// The index (namespace, hash) -> block, and the order of use. Looking up costs two cache misses,
/// both of which can be prefetched: a cold query of a thousand hashes overlaps them. Namespaces
/// are numbers here. Owned by the store, home executor only.
class BlockTable {
 public:
  BlockTable();

  /// A number that stands for the key; keys with equal tags are told apart by find().
  static std::uint32_t tag_of(std::uint32_t name_space, std::string_view hash) noexcept {
    return static_cast<std::uint32_t>(mix64(xxh3_64(hash) + name_space * 0x9E3779B97F4A7C15ULL) >>
                                      32);
  }

  // The stages of a lookup, in order, each some keys ahead of the next. Hints: they change nothing.
  void prefetch_index(std::uint32_t tag) const noexcept;
  void prefetch_block(std::uint32_t tag) const noexcept;
  void prefetch_rest(std::uint32_t tag) const noexcept;

  /// The block's slot, or kNoSlot.
  std::uint32_t find(std::uint32_t tag, std::uint32_t name_space,
                     std::string_view hash) const noexcept;

  /// Adds a block as the most recently used; the key must not be there. The caller fills in
  /// checksum and layout.
  std::uint32_t insert(std::uint32_t name_space, std::string_view hash,
                       std::span<const PartRef> parts);
  void erase(std::uint32_t slot);

  Block& block(std::uint32_t slot) noexcept {
    return chunks_[slot / kChunk]->blocks[slot % kChunk];
  }
  const Block& block(std::uint32_t slot) const noexcept {
    return chunks_[slot / kChunk]->blocks[slot % kChunk];
  }
  std::string_view hash(std::uint32_t slot) const noexcept;

  /// Makes it the most recently used one.
  void touch(std::uint32_t slot) noexcept;
  /// The least recently used block, or kNoSlot; Block::newer leads on.
  std::uint32_t oldest() const noexcept { return oldest_; }
  std::size_t size() const noexcept { return size_; }

 private:
  static constexpr std::uint32_t kChunk = 1024;

  struct Chunk {
    std::array<Block, kChunk> blocks;
    // Apart from the blocks, so that scans over the order of use touch no keys.
    std::array<std::array<char, kMaxHashBytes>, kChunk> hashes;
  };
  struct Cell {
    std::uint32_t tag = 0;
    std::uint32_t slot = kNoSlot;
  };

  std::uint32_t first_candidate(std::uint32_t tag) const noexcept;
  std::uint32_t take_slot();
  void grow();
  void place(Cell cell) noexcept;
  void remove_cell(std::uint32_t slot) noexcept;
  void link_newest(std::uint32_t slot) noexcept;
  void unlink(std::uint32_t slot) noexcept;

  std::vector<Cell> cells_;  // open addressing, linear; a power of two, at most half full
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<Chunk>> chunks_;
  std::vector<std::uint32_t> free_slots_;
  std::uint32_t oldest_ = kNoSlot;
  std::uint32_t newest_ = kNoSlot;
};

}  // namespace corail::detail
