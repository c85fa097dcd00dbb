#include "engine/store/block_table.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/check.h"

namespace corail::detail {

BlockTable::BlockTable() : cells_(1024), mask_(cells_.size() - 1) {}

void BlockTable::prefetch_index(std::uint32_t tag) const noexcept {
  __builtin_prefetch(&cells_[tag & mask_]);
}

std::uint32_t BlockTable::first_candidate(std::uint32_t tag) const noexcept {
  for (std::size_t at = tag & mask_;; at = (at + 1) & mask_) {
    const Cell& cell = cells_[at];
    if (cell.slot == kNoSlot || cell.tag == tag) return cell.slot;
  }
}

void BlockTable::prefetch_block(std::uint32_t tag) const noexcept {
  const std::uint32_t slot = first_candidate(tag);
  if (slot == kNoSlot) return;
  __builtin_prefetch(&block(slot), 1);
}

void BlockTable::prefetch_rest(std::uint32_t tag) const noexcept {
  const std::uint32_t slot = first_candidate(tag);
  if (slot == kNoSlot) return;
  // Not together with the block: the two are 64 KiB apart, in the same set of the first-level
  // cache, and of such a pair of misses an EPYC drops the second.
  __builtin_prefetch(&chunks_[slot / kChunk]->hashes[slot % kChunk]);
  for (const std::uint32_t next : {block(slot).older, block(slot).newer}) {
    if (next != kNoSlot) __builtin_prefetch(&block(next), 1);
  }
}

std::string_view BlockTable::hash(std::uint32_t slot) const noexcept {
  return {chunks_[slot / kChunk]->hashes[slot % kChunk].data(), block(slot).hash_bytes};
}

std::uint32_t BlockTable::find(std::uint32_t tag, std::uint32_t name_space,
                               std::string_view key) const noexcept {
  for (std::size_t at = tag & mask_;; at = (at + 1) & mask_) {
    const Cell& cell = cells_[at];
    if (cell.slot == kNoSlot) return kNoSlot;
    if (cell.tag == tag && block(cell.slot).name_space == name_space && hash(cell.slot) == key) {
      return cell.slot;
    }
  }
}

std::uint32_t BlockTable::insert(std::uint32_t name_space, std::string_view key,
                                 std::span<const PartRef> parts) {
  CORAIL_CHECK(!key.empty() && key.size() <= kMaxHashBytes, "hashes were checked at the door");
  CORAIL_CHECK(!parts.empty() && parts.size() <= kMaxParts, "parts were checked at the door");
  if (2 * (size_ + 1) > cells_.size()) grow();
  const std::uint32_t slot = take_slot();
  std::memcpy(chunks_[slot / kChunk]->hashes[slot % kChunk].data(), key.data(), key.size());
  Block& made = block(slot);
  made.hash_bytes = static_cast<std::uint8_t>(key.size());
  made.name_space = name_space;
  made.part_count = static_cast<std::uint16_t>(parts.size());
  if (parts.size() > made.few.size()) made.many = std::make_unique<PartRef[]>(parts.size());
  std::copy(parts.begin(), parts.end(), made.many != nullptr ? made.many.get() : made.few.data());
  place({tag_of(name_space, key), slot});
  link_newest(slot);
  ++size_;
  return slot;
}

void BlockTable::erase(std::uint32_t slot) {
  remove_cell(slot);
  unlink(slot);
  block(slot) = Block();
  free_slots_.push_back(slot);
  --size_;
}

std::uint32_t BlockTable::take_slot() {
  if (free_slots_.empty()) {
    const auto first = static_cast<std::uint32_t>(chunks_.size()) * kChunk;
    chunks_.push_back(std::make_unique<Chunk>());
    // Lowest slot last, as it is taken from the back: blocks saved together lie together.
    for (std::uint32_t i = kChunk; i > 0; --i) free_slots_.push_back(first + i - 1);
  }
  const std::uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  return slot;
}

void BlockTable::grow() {
  // The cells carry their tags, so growing reads no block.
  const std::vector<Cell> old = std::exchange(cells_, std::vector<Cell>(2 * cells_.size()));
  mask_ = cells_.size() - 1;
  for (const Cell& cell : old) {
    if (cell.slot != kNoSlot) place(cell);
  }
}

void BlockTable::place(Cell cell) noexcept {
  std::size_t at = cell.tag & mask_;
  while (cells_[at].slot != kNoSlot) at = (at + 1) & mask_;
  cells_[at] = cell;
}

void BlockTable::remove_cell(std::uint32_t slot) noexcept {
  std::size_t hole = tag_of(block(slot).name_space, hash(slot)) & mask_;
  while (cells_[hole].slot != slot) hole = (hole + 1) & mask_;
  // Close the gap, so that no search ends at it before its goal: move back whatever may start at or
  // before the hole.
  for (std::size_t at = (hole + 1) & mask_; cells_[at].slot != kNoSlot; at = (at + 1) & mask_) {
    const std::size_t home = cells_[at].tag & mask_;
    if (((at - home) & mask_) < ((at - hole) & mask_)) continue;
    cells_[hole] = cells_[at];
    hole = at;
  }
  cells_[hole] = Cell();
}

void BlockTable::touch(std::uint32_t slot) noexcept {
  if (slot == newest_) return;
  unlink(slot);
  link_newest(slot);
}

void BlockTable::link_newest(std::uint32_t slot) noexcept {
  Block& added = block(slot);
  added.older = newest_;
  added.newer = kNoSlot;
  if (newest_ != kNoSlot) {
    block(newest_).newer = slot;
  } else {
    oldest_ = slot;
  }
  newest_ = slot;
}

void BlockTable::unlink(std::uint32_t slot) noexcept {
  const Block& gone = block(slot);
  if (gone.older != kNoSlot) {
    block(gone.older).newer = gone.newer;
  } else {
    oldest_ = gone.newer;
  }
  if (gone.newer != kNoSlot) {
    block(gone.newer).older = gone.older;
  } else {
    newest_ = gone.older;
  }
}

}  // namespace corail::detail
