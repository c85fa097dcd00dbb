#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/units.h"
#include "engine/plan/even_search.h"

namespace corail {

/// What a plan may at most demand, and how it is split. Sizes in bytes.
struct PlanLimits {
  std::uint64_t max_read_bytes = 32 * kMiB;    // one READ; the transports' limit at the most
  std::uint64_t max_chunk_bytes = 256 * kMiB;  // one local allocation
  std::uint64_t max_total_bytes = 64 * kGiB;   // everything the plan reads
  std::uint64_t max_runs = 4'194'304;          // of the remote table
  std::uint64_t max_intervals = 4'194'304;     // remote ranges before they are fused
};

/// One local allocation of a plan.
struct ChunkSpec {
  std::uint64_t linear = 0;    // where it starts in a block plan's linear space; else 0
  std::uint64_t bytes = 0;     // at least 1, at most PlanLimits::max_chunk_bytes
  std::int32_t numa_node = 0;  // of the region that fills it; -1: anywhere
};

/// What a read moves, whatever it reads: blocks or an object.
///
/// The plan's bytes form a linear space [0, total_bytes()), in which slices are cut: its spans back
/// to back. What is hashed as one is a *piece*: a segment of a block, a granule of an object.
/// Immutable once made, shared as std::shared_ptr<const ...> by all rails; any thread.
class ReadPlan {
 public:
  /// Contiguous at both ends: inside one remote region and one local chunk (I4).
  struct Span {
    std::uint64_t linear = 0;
    std::uint64_t length = 0;
    std::uint64_t remote_address = 0;
    std::uint64_t remote_offset = 0;  // from the region's base
    std::uint64_t chunk_offset = 0;
    std::uint32_t region = 0;  // index in the owner's RegionTable that the plan was made with
    std::uint32_t chunk = 0;   // index in chunks()
    RegionId region_id;
  };

  /// Bytes of a chunk, and where they go in a copy.
  struct CopyPiece {
    std::uint32_t chunk = 0;
    std::uint64_t chunk_offset = 0;
    std::uint64_t length = 0;
    std::uint64_t copy_offset = 0;
  };

  std::uint64_t total_bytes() const noexcept { return total_bytes_; }
  /// READs when every span is cut at max_read_bytes: fused, and split on the borders of pieces.
  std::uint64_t reads_planned() const noexcept { return reads_planned_; }
  /// PlanLimits::max_read_bytes, or max_chunk_bytes where that is less.
  std::uint64_t max_read_bytes() const noexcept { return max_read_bytes_; }
  /// Who serves the read's bytes: owner i those from where owner i - 1 ends, which begin at 0, up
  /// to owner_end(i). At least one.
  std::size_t owners() const noexcept { return owner_ends_.empty() ? 1 : owner_ends_.size(); }
  std::uint64_t owner_end(std::size_t owner) const noexcept {
    return owner_ends_.empty() ? total_bytes_ : owner_ends_[owner];
  }
  std::uint64_t owner_begin(std::size_t owner) const noexcept {
    return owner == 0 ? 0 : owner_end(owner - 1);
  }
  /// Which node that owner is; nothing where the plan does not know.
  virtual std::optional<NodeId> owner_id(std::size_t /*owner*/) const noexcept {
    return std::nullopt;
  }
  /// What to allocate locally.
  std::span<const ChunkSpec> chunks() const noexcept { return chunks_; }
  /// In linear order, without gaps, each as long as region, chunk and remote contiguity allow.
  std::span<const Span> spans() const noexcept { return spans_; }

  /// Those of one owner.
  std::span<const Span> spans_of(std::size_t owner) const noexcept;

  /// The span that holds byte `linear`, which must be below total_bytes(). O(log spans).
  const Span& span_at(std::uint64_t linear) const noexcept;

  /// End of the slice that starts at `from` (below total_bytes()) and wants `want` bytes (at least
  /// 1): inside one span, on the last border of a piece within `want` bytes. Where no border is
  /// that near, the slice ends on the next border within `most` bytes, and where there is none
  /// either, `want` bytes on, inside a piece. O(log spans + log pieces).
  std::uint64_t cut(std::uint64_t from, std::uint64_t want, std::uint64_t most) const noexcept {
    return cut_in(span_at(from), from, want, most);
  }
  std::uint64_t cut(std::uint64_t from, std::uint64_t want) const noexcept {
    return cut(from, want, want);
  }
  /// The same when the caller knows the span that holds `from`.
  virtual std::uint64_t cut_in(const Span& span, std::uint64_t from, std::uint64_t want,
                               std::uint64_t most) const noexcept = 0;

  /// Bytes of the memory that a copy of all that is read needs (contract 7).
  virtual std::uint64_t copy_bytes() const noexcept = 0;
  /// Calls `f` for each piece of what [from, to) of the linear space is in such a copy.
  virtual void for_each_copy(std::uint64_t from, std::uint64_t to,
                             const std::function<void(const CopyPiece&)>& f) const = 0;

 protected:
  ReadPlan() = default;
  ReadPlan(const ReadPlan&) = default;
  ReadPlan& operator=(const ReadPlan&) = default;
  ReadPlan(ReadPlan&&) = default;
  ReadPlan& operator=(ReadPlan&&) = default;
  /// A plan is owned as what it is.
  ~ReadPlan() = default;

  std::uint64_t total_bytes_ = 0;
  std::uint64_t reads_planned_ = 0;
  std::uint64_t max_read_bytes_ = 0;
  std::vector<ChunkSpec> chunks_;
  std::vector<Span> spans_;
  std::vector<std::uint64_t> owner_ends_;  // empty: one owner
};

inline const ReadPlan::Span& ReadPlan::span_at(std::uint64_t linear) const noexcept {
  return spans_[last_at_or_before(spans_, linear, total_bytes_)];
}

inline std::span<const ReadPlan::Span> ReadPlan::spans_of(std::size_t owner) const noexcept {
  if (owners() == 1) return spans_;
  const std::size_t first = last_at_or_before(spans_, owner_begin(owner), total_bytes_);
  const std::size_t last = last_at_or_before(spans_, owner_end(owner) - 1, total_bytes_);
  return spans().subspan(first, last + 1 - first);
}

}  // namespace corail
