#include "engine/memory/slab_pool.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <utility>

#include "engine/base/check.h"
#include "engine/memory/extent_allocator.h"

namespace corail {
namespace detail {
namespace {

/// Chunks start on pages, so that neighbours never share one and large copies are aligned.
constexpr std::uint64_t kChunkAlignment = 4 * kKiB;

}  // namespace

/// What pool, chunks and pins share. Kept by each of them, so slabs are unmapped after the last.
class PoolState {
 public:
  struct OneSlab;
  struct Piece {
    OneSlab* slab = nullptr;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  // whole pages
    std::byte* data = nullptr;
  };

  struct OneSlab {
    explicit OneSlab(std::unique_ptr<Slab> mapping)
        : slab(std::move(mapping)), space(slab->bytes()) {}
    bool empty() const noexcept { return space.free_bytes() == space.capacity(); }

    std::unique_ptr<Slab> slab;
    ExtentAllocator space;
  };

  using Slabs = std::vector<std::unique_ptr<OneSlab>>;

  explicit PoolState(SlabPoolOptions options) : options_(std::move(options)) {}

  Result<Piece> allocate(std::uint64_t bytes, std::int32_t numa_node);
  std::optional<Piece> allocate_mapped(std::uint64_t bytes, std::int32_t numa_node);
  void free(const Piece& piece) noexcept;
  void quarantine(const Piece& piece) noexcept;

  const SlabPoolOptions& options() const noexcept { return options_; }
  std::uint64_t outstanding_bytes() const { return read(outstanding_bytes_); }
  std::uint64_t mapped_bytes() const { return read(mapped_bytes_); }
  std::uint64_t quarantined_chunks() const { return read(quarantined_chunks_); }
  std::uint64_t quarantined_bytes() const { return read(quarantined_bytes_); }
  std::vector<std::string> describe() const;

 private:
  std::uint64_t read(const std::uint64_t& counter) const {
    const std::lock_guard lock(mutex_);
    return counter;
  }
  std::int32_t placement(std::int32_t numa_node) const noexcept;
  std::optional<Piece> first_fit(std::int32_t node, std::uint64_t bytes);
  std::optional<Piece> carve(OneSlab& slab, std::uint64_t bytes);
  std::uint64_t room() const noexcept;
  void evict_empty_slabs(std::uint64_t bytes, Slabs& evicted);
  Result<std::unique_ptr<OneSlab>> map_slab(const SlabOptions& wanted) const noexcept;
  Result<SlabOptions> reserve(std::uint64_t bytes, std::int32_t node, Slabs& evicted);

  const SlabPoolOptions options_;
  mutable std::mutex mutex_;
  // At most capacity_bytes / slab_bytes, and one per node and rest.
  Slabs slabs_;
  std::uint64_t mapped_bytes_ = 0;  // slabs that are being mapped included
  std::uint64_t outstanding_bytes_ = 0;
  std::uint64_t quarantined_chunks_ = 0;
  std::uint64_t quarantined_bytes_ = 0;
};

/// The bytes of one chunk; destroyed with its last copy or pin.
class PoolRange final : public ChunkMemory {
 public:
  PoolRange(std::shared_ptr<PoolState> state, PoolState::Piece piece, std::uint64_t bytes,
            std::int32_t numa_node)
      : state_(std::move(state)), piece_(piece), bytes_(bytes), numa_node_(numa_node) {}
  PoolRange(const PoolRange&) = delete;
  PoolRange& operator=(const PoolRange&) = delete;
  ~PoolRange() override {
    if (!quarantined_.load(std::memory_order_acquire)) state_->free(piece_);
  }

  std::span<std::byte> bytes() const noexcept override { return {piece_.data, bytes_}; }
  std::int32_t numa_node() const noexcept override { return numa_node_; }
  bool engine_owned() const noexcept override { return true; }
  void quarantine() const noexcept override {
    if (!quarantined_.exchange(true, std::memory_order_acq_rel)) state_->quarantine(piece_);
  }

 private:
  const std::shared_ptr<PoolState> state_;
  const PoolState::Piece piece_;
  const std::uint64_t bytes_;  // as asked for
  const std::int32_t numa_node_;
  mutable std::atomic<bool> quarantined_{false};
};

std::int32_t PoolState::placement(std::int32_t numa_node) const noexcept {
  const auto& nodes = options_.numa_nodes;
  return std::find(nodes.begin(), nodes.end(), numa_node) == nodes.end() ? kAnyNumaNode : numa_node;
}

std::uint64_t PoolState::room() const noexcept {
  // A slab of huge pages may be larger than what was asked for.
  return options_.capacity_bytes - std::min(options_.capacity_bytes, mapped_bytes_);
}

void PoolState::evict_empty_slabs(std::uint64_t bytes, Slabs& evicted) {
  for (auto it = slabs_.begin(); it != slabs_.end() && room() < bytes;) {
    if (!(*it)->empty()) {
      ++it;
      continue;
    }
    evicted.push_back(std::move(*it));
    mapped_bytes_ -= evicted.back()->slab->bytes();
    it = slabs_.erase(it);
  }
}

/// What to map for a chunk that no slab of the node has room for; counted as mapped already, so
/// that whoever comes while it is being mapped does not exceed the capacity. The caller destroys
/// what had to be evicted for it.
Result<SlabOptions> PoolState::reserve(std::uint64_t bytes, std::int32_t node, Slabs& evicted) {
  if (room() < bytes) evict_empty_slabs(bytes, evicted);
  SlabOptions wanted;
  wanted.bytes = std::min(std::max(options_.slab_bytes, bytes), room());
  wanted.numa_node = node;
  wanted.backing = options_.backing;
  wanted.huge_pages = options_.huge_pages;
  if (wanted.bytes < bytes) {
    return Error(
        Errc::kOutOfMemory, Stage::kSubmit,
        fmt::format("no room for {} bytes on NUMA node {}: {} of {} bytes of the pool "
                    "are mapped and {} in use; raise the pool's capacity or hold fewer "
                    "results at a time",
                    bytes, node, mapped_bytes_, options_.capacity_bytes, outstanding_bytes_));
  }
  mapped_bytes_ += wanted.bytes;
  return wanted;
}

std::optional<PoolState::Piece> PoolState::carve(OneSlab& slab, std::uint64_t bytes) {
  const auto offset = slab.space.allocate(bytes, kChunkAlignment);
  if (!offset) return std::nullopt;
  outstanding_bytes_ += bytes;
  return Piece{&slab, *offset, bytes, slab.slab->data() + *offset};
}

std::optional<PoolState::Piece> PoolState::first_fit(std::int32_t node, std::uint64_t bytes) {
  for (const auto& slab : slabs_) {
    if (slab->slab->numa_node() != node) continue;
    const auto piece = carve(*slab, bytes);
    if (piece) return piece;
  }
  return std::nullopt;
}

/// Never throws: what was reserved for it is given back by the caller.
Result<std::unique_ptr<PoolState::OneSlab>> PoolState::map_slab(
    const SlabOptions& wanted) const noexcept {
  try {
    auto slab = Slab::create(wanted);
    if (!slab) return std::move(slab).error();
    auto registered = (*slab)->register_with(options_.registrars, MemoryUse::kLanding);
    if (!registered) return std::move(registered).error().at(Stage::kSubmit);
    return std::make_unique<OneSlab>(std::move(*slab));
  } catch (const std::exception&) {
    return Error(Errc::kOutOfMemory, Stage::kSubmit, "no memory to keep account of a slab");
  }
}

Result<PoolState::Piece> PoolState::allocate(std::uint64_t bytes, std::int32_t numa_node) {
  const std::uint64_t rounded = align_up(bytes, kChunkAlignment);
  const std::int32_t node = placement(numa_node);
  SlabOptions wanted;
  // Devices take as long to forget memory as to learn of it, and other threads need the lock to
  // free what they hold: so it goes after the lock. It goes before anything is mapped in its place.
  Slabs evicted;
  {
    const std::lock_guard lock(mutex_);
    const auto piece = first_fit(node, rounded);
    if (piece) return *piece;
    auto reserved = reserve(rounded, node, evicted);
    if (!reserved) return std::move(reserved).error();
    wanted = *reserved;
  }
  evicted.clear();
  // Without the lock: the kernel may have to clear huge pages, and devices to pin them.
  auto mapped = map_slab(wanted);
  const std::lock_guard lock(mutex_);
  mapped_bytes_ -= wanted.bytes;
  if (!mapped) return std::move(mapped).error();
  const std::uint64_t mapped_bytes = (*mapped)->slab->bytes();
  slabs_.push_back(std::move(*mapped));
  mapped_bytes_ += mapped_bytes;
  const auto piece = carve(*slabs_.back(), rounded);
  CORAIL_CHECK(piece.has_value(), "a new slab holds what it was made for");
  return *piece;
}

std::optional<PoolState::Piece> PoolState::allocate_mapped(std::uint64_t bytes,
                                                           std::int32_t numa_node) {
  const std::lock_guard lock(mutex_);
  return first_fit(placement(numa_node), align_up(bytes, kChunkAlignment));
}

void PoolState::free(const Piece& piece) noexcept {
  const std::lock_guard lock(mutex_);
  piece.slab->space.free(piece.offset, piece.bytes);
  outstanding_bytes_ -= piece.bytes;
}

void PoolState::quarantine(const Piece& piece) noexcept {
  const std::lock_guard lock(mutex_);
  piece.slab->slab->keep_mapped_for_ever();
  ++quarantined_chunks_;
  quarantined_bytes_ += piece.bytes;
}

std::vector<std::string> PoolState::describe() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  lines.reserve(slabs_.size());
  for (const auto& one : slabs_) lines.push_back(one->slab->describe());
  return lines;
}

}  // namespace detail

SlabPool::SlabPool(SlabPoolOptions options)
    : state_(std::make_shared<detail::PoolState>(std::move(options))) {}

Result<SlabChunk> SlabPool::allocate(std::uint64_t bytes, std::int32_t numa_node) {
  if (bytes == 0) {
    return Error(Errc::kInvalidArgument, Stage::kSubmit, "a chunk of 0 bytes was asked for");
  }
  if (bytes > state_->options().slab_bytes) {
    return Error(Errc::kTooLarge, Stage::kSubmit,
                 fmt::format("a chunk of {} bytes was asked for, slabs have {}; plan smaller "
                             "chunks",
                             bytes, state_->options().slab_bytes));
  }
  auto piece = state_->allocate(bytes, numa_node);
  if (!piece) return std::move(piece).error();
  return SlabChunk(std::make_shared<const detail::PoolRange>(state_, *piece, bytes, numa_node));
}

std::optional<SlabChunk> SlabPool::allocate_mapped(std::uint64_t bytes, std::int32_t numa_node) {
  // What can never be had is told by allocate().
  if (bytes == 0 || bytes > state_->options().slab_bytes) return std::nullopt;
  const auto piece = state_->allocate_mapped(bytes, numa_node);
  if (!piece) return std::nullopt;
  return SlabChunk(std::make_shared<const detail::PoolRange>(state_, *piece, bytes, numa_node));
}

std::uint64_t SlabPool::outstanding_bytes() const { return state_->outstanding_bytes(); }
std::uint64_t SlabPool::mapped_bytes() const { return state_->mapped_bytes(); }
std::uint64_t SlabPool::quarantined_chunks() const { return state_->quarantined_chunks(); }
std::uint64_t SlabPool::quarantined_bytes() const { return state_->quarantined_bytes(); }
std::vector<std::string> SlabPool::describe() const { return state_->describe(); }

}  // namespace corail
