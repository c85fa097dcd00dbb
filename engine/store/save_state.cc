#include "engine/store/save_state.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "engine/base/checksum.h"

namespace corail::detail {
namespace {

Error bad_save(std::string detail) {
  return {Errc::kInvalidArgument, Stage::kSetup, std::move(detail)};
}

Result<std::vector<std::shared_ptr<Arena>>> arenas_of(const StoreState& store,
                                                      std::span<const std::int32_t> part_numa) {
  std::vector<std::shared_ptr<Arena>> arenas;
  arenas.reserve(part_numa.size());
  for (const std::int32_t node : part_numa) {
    auto arena = store.arena_of(node);
    if (arena == nullptr) {
      return bad_save(fmt::format("the store has no memory on NUMA node {}; it has on: {}", node,
                                  store.list_nodes()));
    }
    arenas.push_back(std::move(arena));
  }
  return arenas;
}

/// Positions of the hashes that must be written. Those that need not become most recently used, the
/// head of the prefix last.
std::vector<std::uint32_t> find_new(StoreState& store, const SaveRequest& request) {
  std::vector<std::uint32_t> missing;
  std::vector<std::uint32_t> present;
  std::unordered_set<std::string_view> met;
  for (std::uint32_t i = 0; i < request.hashes.size(); ++i) {
    const std::uint32_t slot = store.find(request.name_space, request.hashes[i]);
    // A block of another layout is no copy of this one: the seal replaces it.
    if (slot != kNoSlot && store.blocks().block(slot).layout == request.layout.get()) {
      present.push_back(slot);
    } else if (met.insert(request.hashes[i]).second) {
      missing.push_back(i);
    }
  }
  for (auto slot = present.rbegin(); slot != present.rend(); ++slot) store.blocks().touch(*slot);
  return missing;
}

/// The piece that holds a new block. O(log pieces).
const Piece& piece_of(std::span<const Piece> pieces, std::uint32_t block) noexcept {
  const auto after = std::upper_bound(
      pieces.begin(), pieces.end(), block,
      [](std::uint32_t wanted, const Piece& piece) { return wanted < piece.first; });
  return *std::prev(after);
}

}  // namespace

Result<std::unique_ptr<SaveState>> SaveState::begin(StoreState& store, const SaveRequest& request) {
  auto checked =
      check_keys(request.name_space, request.hashes, store.options().max_hashes, Stage::kSetup);
  if (!checked) return std::move(checked).error();
  if (request.layout == nullptr) return bad_save("a save needs a layout");
  if (store.shapes().intern(*request.layout) != request.layout) {
    return bad_save("the layout of a save must come from this store's intern()");
  }
  auto arenas = arenas_of(store, request.part_numa);
  if (!arenas) return std::move(arenas).error();
  auto partition =
      store.shapes().partition(request.layout, request.part_of_lane, request.part_numa.size());
  if (!partition) return std::move(partition).error();
  const auto number = store.namespaces().use(request.name_space, store.options().max_namespaces);
  if (!number) {
    return Error(Errc::kQuotaExceeded, Stage::kSetup,
                 fmt::format("the store has {} namespaces, which is the most",
                             store.options().max_namespaces));
  }
  // From here on the save gives the namespace back, whatever happens.
  auto save = std::make_unique<SaveState>(store, std::string(request.name_space), *number);
  save->partition_ = *partition;
  save->new_blocks_ = find_new(store, request);
  store.counters().deduplicated_blocks += request.hashes.size() - save->new_blocks_.size();
  const auto blocks = static_cast<std::uint32_t>(save->new_blocks_.size());
  if (blocks > store.options().max_blocks) {
    return Error(Errc::kTooLarge, Stage::kSetup,
                 fmt::format("{} new blocks do not fit into an index of {}", blocks,
                             store.options().max_blocks));
  }
  for (const std::uint32_t position : save->new_blocks_) {
    save->hashes_.emplace_back(request.hashes[position]);
  }
  std::vector<Pieces> pieces(arenas->size());
  if (blocks > 0) {
    auto reserved = reserve(store, save->partition_, *arenas, request.order, blocks);
    if (!reserved) return std::move(reserved).error();
    pieces = std::move(*reserved);
  }
  for (auto& of_part : pieces) {
    auto& progress = save->parts_.emplace_back(std::make_unique<PartProgress>());
    progress->kept = std::make_shared<const Pieces>(std::move(of_part));
  }
  save->start_timer();
  return save;
}

void SaveState::start_timer() {
  timer_ = store_.make_timer();
  // The timer goes with the save, and drops the callback then.
  timer_->wait_until(store_.now() + store_.options().save_ttl, [this](bool fired) {
    if (fired) expire();
  });
}

void SaveState::expire() {
  ++store_.counters().expired_saves;
  drop_pieces();
}

void SaveState::drop_pieces() {
  for (const auto& progress : parts_) {
    std::shared_ptr<const Pieces> dropped;  // destroyed after unlocking: it may be many extents
    const std::lock_guard lock(progress->mutex);
    dropped = std::exchange(progress->kept, nullptr);
  }
}

Error SaveState::expired() const {
  return {
      Errc::kDeadline, Stage::kSetup,
      fmt::format("the save was not sealed within {} ms and was dropped; begin again, with fewer "
                  "blocks at a time or a longer save_ttl",
                  std::chrono::duration_cast<std::chrono::milliseconds>(store_.options().save_ttl)
                      .count())};
}

Result<Pin> SaveState::pin(std::uint32_t part) const {
  if (part >= parts_.size()) {
    return bad_save(fmt::format("part {} was to be pinned, the save has {}", part, parts_.size()));
  }
  if (sealed_) return bad_save("the save was sealed before");
  auto pieces = parts_[part]->pieces();
  if (pieces == nullptr) return expired();
  return Pin(std::move(pieces));
}

std::span<std::byte> SaveState::writable(std::uint32_t position,
                                         std::uint32_t lane) const noexcept {
  if (sealed_ || lane >= partition_->part_of.size()) return {};
  const auto found = std::lower_bound(new_blocks_.begin(), new_blocks_.end(), position);
  if (found == new_blocks_.end() || *found != position) return {};
  const auto block = static_cast<std::uint32_t>(found - new_blocks_.begin());
  const auto pieces = parts_[partition_->part_of[lane]]->pieces();
  if (pieces == nullptr) return {};
  const Piece& piece = piece_of(*pieces, block);
  return {piece.extent->segment(block - piece.first, partition_->rank_of[lane]),
          partition_->layout->lane_bytes()[lane]};
}

Result<void> SaveState::put_part(std::uint32_t part) {
  if (part >= parts_.size()) {
    return bad_save(fmt::format("part {} was put, the save has {}", part, parts_.size()));
  }
  PartProgress& progress = *parts_[part];
  // Shared while the sums are computed: what is read here is not reused meanwhile.
  const auto pieces = progress.pieces();
  if (pieces == nullptr && !sealed_) return expired();
  PartPhase open = PartPhase::kOpen;
  if (!progress.phase.compare_exchange_strong(open, PartPhase::kPutting)) {
    return bad_save(fmt::format("part {} was put before", part));
  }
  progress.sums.assign(new_blocks_.size(), 0);
  sum_terms(*pieces, partition_->parts[part], progress.sums);
  progress.phase.store(PartPhase::kPut, std::memory_order_release);
  if (progress.pieces() == nullptr) return expired();
  return ok_result();
}

void SaveState::sum_terms(const Pieces& pieces, const Part& part,
                          std::vector<std::uint64_t>& sums) const {
  const auto lane_bytes = partition_->layout->lane_bytes();
  const auto ranks = static_cast<std::uint32_t>(part.lanes.size());
  for (const Piece& piece : pieces) {
    const Extent& extent = *piece.extent;
    const auto add = [&](std::uint32_t index, std::uint32_t rank) {
      const std::uint32_t lane = part.lanes[rank];
      const std::span<const std::byte> bytes(extent.segment(index, rank), lane_bytes[lane]);
      // Ranks ascend in either order of memory, so the sum so far is the one up to this rank.
      std::uint64_t& sum = sums[piece.first + index];
      sum += lane_term(xxh3_64(bytes), lane);
      extent.term_sum(index, rank) = sum;
    };
    // In the order of memory, so that the pass over the bytes is sequential.
    if (extent.shape().order() == BlockOrder::kBlockMajor) {
      for (std::uint32_t index = 0; index < extent.blocks(); ++index) {
        for (std::uint32_t rank = 0; rank < ranks; ++rank) add(index, rank);
      }
    } else {
      for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        for (std::uint32_t index = 0; index < extent.blocks(); ++index) add(index, rank);
      }
    }
  }
}

Result<void> SaveState::seal() {
  if (sealed_) return bad_save("the save was sealed before");
  std::vector<std::shared_ptr<const Pieces>> pieces;
  for (const auto& progress : parts_) {
    pieces.push_back(progress->pieces());
    if (pieces.back() == nullptr) return expired();
  }
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    if (parts_[part]->phase.load(std::memory_order_acquire) != PartPhase::kPut) {
      return bad_save(fmt::format("part {} was not put; every part is before the seal", part));
    }
  }
  sealed_ = true;
  timer_.reset();
  // Every piece gets its number once, and loses it below if no block of it was kept.
  std::vector<std::vector<std::uint32_t>> numbers(parts_.size());
  for (std::size_t part = 0; part < parts_.size(); ++part) {
    for (const Piece& piece : *pieces[part]) {
      const std::uint32_t number = store_.extents().add(piece.extent);
      store_.extents().add_block(number);
      numbers[part].push_back(number);
    }
  }
  std::vector<PartRef> refs(parts_.size());
  // Backwards, so that the head of the prefix is the most recently used.
  for (auto block = static_cast<std::uint32_t>(new_blocks_.size()); block-- > 0;) {
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      const Pieces& of_part = *pieces[part];
      const Piece& piece = piece_of(of_part, block);
      refs[part] = {numbers[part][static_cast<std::size_t>(&piece - of_part.data())],
                    block - piece.first};
    }
    insert(block, refs);
  }
  for (const auto& of_part : numbers) {
    for (const std::uint32_t number : of_part) store_.extents().remove_block(number);
  }
  drop_pieces();
  return ok_result();
}

void SaveState::insert(std::uint32_t block, std::span<const PartRef> refs) {
  const Layout* layout = partition_->layout.get();
  const std::uint32_t known = store_.find(name_space_, hashes_[block]);
  if (known != kNoSlot && store_.blocks().block(known).layout == layout) {
    // Somebody else sealed it first, and may have leased it already: theirs stays.
    ++store_.counters().deduplicated_blocks;
    store_.blocks().touch(known);
    return;
  }
  if (known != kNoSlot) store_.erase(known, nullptr);
  while (store_.blocks().size() >= store_.options().max_blocks) {
    store_.erase(store_.blocks().oldest(), nullptr);
    ++store_.counters().evicted_blocks;
  }
  std::uint64_t sum = 0;
  for (const auto& progress : parts_) sum += progress->sums[block];
  const std::uint64_t identity = block_identity(name_space_, hashes_[block], layout->id());
  store_.insert(name_space_, hashes_[block], refs, layout, block_checksum(sum, identity));
  ++store_.counters().saved_blocks;
}

}  // namespace corail::detail
