#include "engine/store/reservation.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/base/units.h"

namespace corail::detail {
namespace {

/// Extents start on 256 bytes where that leaves no gap between saves, else as far as it does not.
constexpr std::uint64_t kBestAlignment = 256;

std::uint64_t alignment_for(std::uint64_t part_bytes) noexcept {
  return std::min(kBestAlignment, part_bytes & (~part_bytes + 1));
}

/// Evicts for one reservation in one arena; walks the order of use once, however often it is asked
/// to go on.
class Eviction {
 public:
  Eviction(StoreState& store, const Arena& arena)
      : store_(store), arena_(arena), next_(store.blocks().oldest()) {}

  /// Evicts until an extent of the arena has lost its last block. False: nothing is left to evict.
  bool free_an_extent() {
    while (next_ != kNoSlot) {
      const std::uint32_t slot = next_;
      next_ = store_.blocks().block(slot).newer;
      if (!would_help(slot)) continue;
      ++store_.counters().evicted_blocks;
      if (store_.erase(slot, &arena_)) return true;
    }
    return false;
  }

 private:
  /// Blocks whose bytes somebody holds stay: evicting them would free nothing now.
  bool would_help(std::uint32_t slot) const {
    for (const PartRef& part : store_.blocks().block(slot).parts()) {
      const ExtentTable::Entry& entry = store_.extents().at(part.extent);
      if (&entry.extent->arena() == &arena_ && !ExtentTable::leased(entry)) return true;
    }
    return false;
  }

  StoreState& store_;
  const Arena& arena_;
  std::uint32_t next_;
};

/// Bytes that are free or would be if everything that is not leased were evicted.
std::uint64_t reclaimable(StoreState& store, const Arena& arena) {
  std::uint64_t bytes = arena.free_bytes();
  for (const ExtentTable::Entry& entry : store.extents().entries()) {
    if (entry.extent == nullptr || &entry.extent->arena() != &arena) continue;
    if (!ExtentTable::leased(entry)) bytes += entry.extent->bytes();
  }
  return bytes;
}

/// One part of one save on its way to extents.
class PartReservation {
 public:
  PartReservation(StoreState& store, std::shared_ptr<const Partition> partition, std::uint32_t part,
                  std::shared_ptr<Arena> arena, BlockOrder order)
      : store_(store),
        partition_(std::move(partition)),
        part_(part),
        bytes_(partition_->parts[part].bytes),
        alignment_(alignment_for(bytes_)),
        arena_(std::move(arena)),
        order_(order),
        eviction_(store, *arena_) {}

  Result<std::vector<Piece>> run(std::uint32_t blocks) {
    // No eviction makes room for an extent that is longer than a region.
    const std::uint64_t longest = std::min(store_.options().max_extent_bytes, arena_->longest());
    const std::uint32_t most =
        static_cast<std::uint32_t>(std::clamp<std::uint64_t>(longest / bytes_, 1, blocks));
    // All at once first: only that keeps the extents together where there are holes.
    const auto whole = arena_->allocate(blocks * bytes_, alignment_);
    std::uint32_t wanted = most;
    for (std::uint32_t first = 0; first < blocks;) {
      const std::uint32_t count = std::min(wanted, blocks - first);
      std::optional<std::uint64_t> offset;
      if (whole) {
        offset = *whole + first * bytes_;
      } else {
        offset = allocate(count);
      }
      if (!offset && wanted == 1) return out_of_memory(blocks - first);
      if (!offset) {
        // Only holes are left, smaller than that.
        wanted = (wanted + 1) / 2;
        continue;
      }
      auto shape = store_.shapes().shape(partition_, part_, order_, count);
      pieces_.push_back(
          {first, std::make_shared<const Extent>(arena_, std::move(shape), *offset, count)});
      first += count;
    }
    return std::move(pieces_);
  }

 private:
  std::optional<std::uint64_t> allocate(std::uint32_t count) {
    for (;;) {
      const auto offset = arena_->allocate(count * bytes_, alignment_);
      if (offset || !eviction_.free_an_extent()) return offset;
    }
  }

  Error out_of_memory(std::uint32_t missing) const {
    return {Errc::kOutOfMemory, Stage::kSetup,
            fmt::format("NUMA node {} has no room for {} more blocks of {} bytes: {} bytes are "
                        "free, the rest is leased or being written",
                        arena_->slab().numa_node(), missing, bytes_, arena_->free_bytes())};
  }

  StoreState& store_;
  const std::shared_ptr<const Partition> partition_;
  const std::uint32_t part_;
  const std::uint64_t bytes_;  // of one block
  const std::uint64_t alignment_;
  const std::shared_ptr<Arena> arena_;
  const BlockOrder order_;
  Eviction eviction_;
  std::vector<Piece> pieces_;
};

/// Fails when the parts cannot fit, whatever is evicted.
Result<void> check_fit(StoreState& store, const Partition& partition,
                       std::span<const std::shared_ptr<Arena>> arenas, std::uint32_t blocks) {
  for (const auto& arena : arenas) {
    std::uint64_t needed = 0;
    std::uint64_t longest = 0;
    for (std::size_t part = 0; part < arenas.size(); ++part) {
      // 2^32 blocks of less than 2^47 bytes could overflow, so the sum is checked.
      if (arenas[part] != arena) continue;
      const auto bytes = checked_mul(blocks, partition.parts[part].bytes);
      const auto sum = checked_add(needed, bytes.value_or(~std::uint64_t{0}));
      needed = sum.value_or(~std::uint64_t{0});
      longest = std::max(longest, partition.parts[part].bytes);
    }
    const std::int32_t node = arena->slab().numa_node();
    if (longest > arena->longest()) {
      return Error(Errc::kTooLarge, Stage::kSetup,
                   fmt::format("a block has {} bytes on NUMA node {}, where a region has at most "
                               "{}; save it in more parts, or let devices register more at once",
                               longest, node, arena->longest()));
    }
    if (needed > arena->slab().bytes()) {
      return Error(Errc::kTooLarge, Stage::kSetup,
                   fmt::format("{} new blocks need {} bytes on NUMA node {}, which has {}; save "
                               "fewer at a time or give the store more memory",
                               blocks, needed, node, arena->slab().bytes()));
    }
    if (needed > reclaimable(store, *arena)) {
      return Error(Errc::kOutOfMemory, Stage::kSetup,
                   fmt::format("{} new blocks need {} bytes on NUMA node {}; too much of it is "
                               "leased or being written",
                               blocks, needed, node));
    }
  }
  return ok_result();
}

}  // namespace

Result<std::vector<std::vector<Piece>>> reserve(StoreState& store,
                                                const std::shared_ptr<const Partition>& partition,
                                                std::span<const std::shared_ptr<Arena>> arenas,
                                                BlockOrder order, std::uint32_t blocks) {
  auto fits = check_fit(store, *partition, arenas, blocks);
  if (!fits) return std::move(fits).error();
  std::vector<std::vector<Piece>> parts;
  parts.reserve(arenas.size());
  for (std::uint32_t part = 0; part < arenas.size(); ++part) {
    PartReservation reservation(store, partition, part, arenas[part], order);
    auto pieces = reservation.run(blocks);
    if (!pieces) return std::move(pieces).error();
    parts.push_back(std::move(*pieces));
  }
  return parts;
}

}  // namespace corail::detail
