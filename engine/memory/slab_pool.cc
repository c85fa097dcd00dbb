#include "engine/memory/slab_pool.h"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
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
  struct Piece {
    std::size_t slab = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  // whole pages
    std::byte* data = nullptr;
  };

  explicit PoolState(SlabPoolOptions options) : options_(options) {}

  Result<Piece> allocate(std::uint64_t bytes, std::int32_t numa_node);
  void free(const Piece& piece) noexcept;
  void quarantine(const Piece& piece) noexcept;

  const SlabPoolOptions& options() const noexcept { return options_; }
  std::uint64_t outstanding_bytes() const { return read(outstanding_bytes_); }
  std::uint64_t mapped_bytes() const { return read(mapped_bytes_); }
  std::uint64_t quarantined_chunks() const { return read(quarantined_chunks_); }
  std::uint64_t quarantined_bytes() const { return read(quarantined_bytes_); }
  std::vector<std::string> describe() const;

 private:
  struct OneSlab {
    explicit OneSlab(std::unique_ptr<Slab> mapping)
        : slab(std::move(mapping)), space(slab->bytes()) {}
    std::unique_ptr<Slab> slab;
    ExtentAllocator space;
  };

  std::uint64_t read(const std::uint64_t& counter) const {
    const std::lock_guard lock(mutex_);
    return counter;
  }
  Result<void> add_slab(std::uint64_t bytes, std::int32_t numa_node);
  std::optional<Piece> first_fit(std::size_t slab, std::uint64_t bytes);

  const SlabPoolOptions options_;
  mutable std::mutex mutex_;
  std::vector<OneSlab> slabs_;  // at most capacity_bytes / slab_bytes, and one per node and rest
  std::uint64_t mapped_bytes_ = 0;
  std::uint64_t outstanding_bytes_ = 0;
  std::uint64_t quarantined_chunks_ = 0;
  std::uint64_t quarantined_bytes_ = 0;
};

/// The bytes of one chunk; destroyed with its last copy or pin.
class PoolRange {
 public:
  PoolRange(std::shared_ptr<PoolState> state, PoolState::Piece piece, std::uint64_t bytes,
            std::int32_t numa_node)
      : state_(std::move(state)), piece_(piece), bytes_(bytes), numa_node_(numa_node) {}
  PoolRange(const PoolRange&) = delete;
  PoolRange& operator=(const PoolRange&) = delete;
  ~PoolRange() {
    if (!quarantined_.load(std::memory_order_acquire)) state_->free(piece_);
  }

  std::span<std::byte> bytes() const noexcept { return {piece_.data, bytes_}; }
  std::int32_t numa_node() const noexcept { return numa_node_; }
  void quarantine() const noexcept {
    if (!quarantined_.exchange(true, std::memory_order_acq_rel)) state_->quarantine(piece_);
  }

 private:
  const std::shared_ptr<PoolState> state_;
  const PoolState::Piece piece_;
  const std::uint64_t bytes_;  // as asked for
  const std::int32_t numa_node_;
  mutable std::atomic<bool> quarantined_{false};
};

Result<void> PoolState::add_slab(std::uint64_t bytes, std::int32_t numa_node) {
  // A slab of huge pages may be larger than what was asked for.
  const std::uint64_t left =
      options_.capacity_bytes - std::min(options_.capacity_bytes, mapped_bytes_);
  SlabOptions wanted;
  wanted.bytes = std::min(std::max(options_.slab_bytes, bytes), left);
  wanted.numa_node = numa_node;
  wanted.backing = options_.backing;
  wanted.huge_pages = options_.huge_pages;
  if (wanted.bytes < bytes) {
    return Error(
        Errc::kOutOfMemory, Stage::kSubmit,
        fmt::format("no room for {} bytes on NUMA node {}: {} of {} bytes of the pool "
                    "are mapped and {} in use; raise the pool's capacity or hold fewer "
                    "results at a time",
                    bytes, numa_node, mapped_bytes_, options_.capacity_bytes, outstanding_bytes_));
  }
  auto slab = Slab::create(wanted);
  if (!slab) return std::move(slab).error();
  mapped_bytes_ += (*slab)->bytes();
  slabs_.emplace_back(std::move(*slab));
  return ok_result();
}

std::optional<PoolState::Piece> PoolState::first_fit(std::size_t slab, std::uint64_t bytes) {
  const auto offset = slabs_[slab].space.allocate(bytes, kChunkAlignment);
  if (!offset) return std::nullopt;
  outstanding_bytes_ += bytes;
  return Piece{slab, *offset, bytes, slabs_[slab].slab->data() + *offset};
}

Result<PoolState::Piece> PoolState::allocate(std::uint64_t bytes, std::int32_t numa_node) {
  const std::uint64_t rounded = align_up(bytes, kChunkAlignment);
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < slabs_.size(); ++i) {
    if (slabs_[i].slab->numa_node() != numa_node) continue;
    const auto piece = first_fit(i, rounded);
    if (piece) return *piece;
  }
  // Mapping reserves addresses only and touches no page, so other threads wait for microseconds.
  auto added = add_slab(rounded, numa_node);
  if (!added) return std::move(added).error();
  const auto piece = first_fit(slabs_.size() - 1, rounded);
  CORAIL_CHECK(piece.has_value(), "a new slab holds what it was made for");
  return *piece;
}

void PoolState::free(const Piece& piece) noexcept {
  const std::lock_guard lock(mutex_);
  slabs_[piece.slab].space.free(piece.offset, piece.bytes);
  outstanding_bytes_ -= piece.bytes;
}

void PoolState::quarantine(const Piece& piece) noexcept {
  const std::lock_guard lock(mutex_);
  slabs_[piece.slab].slab->keep_mapped_for_ever();
  ++quarantined_chunks_;
  quarantined_bytes_ += piece.bytes;
}

std::vector<std::string> PoolState::describe() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  lines.reserve(slabs_.size());
  for (const OneSlab& one : slabs_) lines.push_back(one.slab->describe());
  return lines;
}

}  // namespace detail

std::span<std::byte> SlabChunk::bytes() const noexcept {
  return range_ ? range_->bytes() : std::span<std::byte>();
}

std::int32_t SlabChunk::numa_node() const noexcept { return range_ ? range_->numa_node() : 0; }

void SlabChunk::quarantine() const noexcept {
  if (range_) range_->quarantine();
}

SlabPool::SlabPool(SlabPoolOptions options)
    : state_(std::make_shared<detail::PoolState>(options)) {}

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

std::uint64_t SlabPool::outstanding_bytes() const { return state_->outstanding_bytes(); }
std::uint64_t SlabPool::mapped_bytes() const { return state_->mapped_bytes(); }
std::uint64_t SlabPool::quarantined_chunks() const { return state_->quarantined_chunks(); }
std::uint64_t SlabPool::quarantined_bytes() const { return state_->quarantined_bytes(); }
std::vector<std::string> SlabPool::describe() const { return state_->describe(); }

}  // namespace corail
