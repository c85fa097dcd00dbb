#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/memory/slab_pool.h"
#include "engine/plan/block_plan.h"
#include "engine/read/read_report.h"

namespace corail {

/// A committed prefix of blocks: (block, lane) → bytes by arithmetic over the runs, no object per
/// segment. The view *is* the memory that the read landed in (contract 7): it holds the pins, and
/// the bytes are reused once the view and its copies are gone. Immutable; any thread.
class BlockView {
 public:
  BlockView() = default;
  BlockView(std::shared_ptr<const BlockPlan> plan, std::vector<SlabChunk> chunks, ReadReport report)
      : plan_(std::move(plan)), chunks_(std::move(chunks)), report_(std::move(report)) {}

  /// Blocks in the prefix; may be fewer than were asked for, also none.
  std::uint32_t blocks() const noexcept { return plan_ ? plan_->blocks() : 0; }
  std::uint64_t bytes() const noexcept { return plan_ ? plan_->total_bytes() : 0; }

  /// The segment of `lane` in the block at position `block` of the request; block < blocks(), lane
  /// < the layout's lanes.
  std::span<const std::byte> segment(std::uint32_t block, std::uint32_t lane) const {
    const BlockPlan::Place place = plan_->locate(block, lane);
    return chunks_[place.chunk].bytes().subspan(place.offset, place.bytes);
  }

  const ReadReport& report() const noexcept { return report_; }
  ReadReport& report() noexcept { return report_; }

 private:
  std::shared_ptr<const BlockPlan> plan_;
  std::vector<SlabChunk> chunks_;
  ReadReport report_;
};

}  // namespace corail
