// Sums of checksum terms of some lanes, from what the extents keep since their save.
#include <algorithm>
#include <span>
#include <utility>

#include "engine/store/leased_bytes.h"

namespace corail::detail {
namespace {

/// Finds the extents of a run's blocks: each lies where the last one did, as most do.
class ExtentFinder {
 public:
  explicit ExtentFinder(std::span<const std::shared_ptr<const Extent>> extents) {
    by_base_.reserve(extents.size());
    for (const auto& extent : extents) by_base_.push_back(extent.get());
    std::sort(by_base_.begin(), by_base_.end(),
              [](const Extent* a, const Extent* b) { return a->base() < b->base(); });
  }

  /// The one that holds the address; there is one.
  const Extent& at(std::uint64_t address) noexcept {
    if (last_ == nullptr || address - last_->base() >= last_->bytes()) {
      const auto after = std::upper_bound(
          by_base_.begin(), by_base_.end(), address,
          [](std::uint64_t wanted, const Extent* extent) { return wanted < extent->base(); });
      last_ = *std::prev(after);
    }
    return *last_;
  }

 private:
  std::vector<const Extent*> by_base_;
  const Extent* last_ = nullptr;
};

std::uint32_t rank_of(const Part& part, std::uint32_t lane) noexcept {
  const auto at = std::lower_bound(part.lanes.begin(), part.lanes.end(), lane);
  return static_cast<std::uint32_t>(at - part.lanes.begin());
}

/// Adds the range's lanes in one part to the sum of each block of the run.
void add_sums(const PartRun& run, LaneRange lanes, ExtentFinder& extents,
              std::span<std::uint64_t> sums) {
  const Shape& shape = *run.shape;
  const std::uint32_t first = rank_of(shape.part(), lanes.begin);
  const std::uint32_t end = rank_of(shape.part(), lanes.end);
  if (first == end) return;
  std::uint64_t base = run.base;
  std::int64_t index = run.index;
  for (std::uint64_t& sum : sums) {
    const Extent& extent = extents.at(base);
    // Where all lanes have one stride, the index is within the base: see PartRun.
    const std::uint64_t block = shape.uniform() ? (base - extent.base()) / shape.uniform_stride()
                                                : static_cast<std::uint64_t>(index);
    const auto at = static_cast<std::uint32_t>(block);
    sum += extent.term_sum(at, end - 1);
    if (first > 0) sum -= extent.term_sum(at, first - 1);
    base += static_cast<std::uint64_t>(run.base_step);
    index += run.index_step;
  }
}

}  // namespace

std::uint32_t LeasedBytes::lanes() const noexcept {
  return runs_.phases().front().partition->layout->lanes();
}

std::vector<std::uint64_t> LeasedBytes::lane_sums(LaneRange lanes) const {
  std::vector<std::uint64_t> sums;
  ExtentFinder extents(extents_);
  for (const PartRuns::Phase& phase : runs_.phases()) {
    const std::size_t first_block = sums.size();
    for (const auto& runs : phase.runs) {
      std::size_t block = first_block;
      for (const PartRun& run : runs) {
        if (sums.size() < block + run.count) sums.resize(block + run.count, 0);
        add_sums(run, lanes, extents, std::span(sums).subspan(block, run.count));
        block += run.count;
      }
    }
  }
  return sums;
}

}  // namespace corail::detail
