#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/region_table.h"
#include "engine/plan/block_plan.h"
#include "engine/rail/rail_door.h"
#include "engine/read/integrity.h"

namespace corail::test {

/// What a test's holder has: `blocks` blocks of equal lanes, in `regions` regions.
struct HeldShape {
  std::uint32_t blocks = 8;
  std::uint32_t lanes = 4;
  std::uint32_t lane_bytes = 16 * 1024;
  std::uint32_t regions = 2;
  std::uint32_t gap_bytes = 0;  // between blocks: more than 0 makes each block a range of its own
};

struct BlockRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

/// Blocks in a holder's memory, with position-dependent content, served as long as the lease lives.
/// Immutable but for the lease; any thread. Must outlive every pin, like a store.
class HeldBlocks final : public LeaseGate {
 public:
  HeldBlocks(const HeldShape& shape, std::uint64_t seed);
  ~HeldBlocks() override;

  Result<PinnedBytes> admit(SessionId session, ReadContext context, RegionId region,
                            std::uint64_t offset, std::uint64_t length) override;

  /// From here on the gate answers kLeaseExpired. What was pinned stays.
  void expire() { lease_live_ = false; }
  /// Bytes ranges that are being served right now.
  std::size_t pins() const noexcept { return static_cast<std::size_t>(keeper_.use_count()) - 1; }

  /// Called for what is admitted, when set. Before any rail serves.
  std::function<void(RegionId region, std::uint64_t offset, std::uint64_t length)> on_admit;

  std::shared_ptr<const BlockPlan> plan(BlockRange range, const PlanLimits& limits) const;
  BlockExpectation expectation(BlockRange range) const;
  std::span<const std::byte> segment(std::uint32_t block, std::uint32_t lane) const;
  BlockRange all() const;
  std::uint64_t total_bytes() const;

 private:
  struct HeldRegion {
    RegionId id;
    std::vector<std::byte> memory;
  };

  const HeldShape shape_;
  const std::uint64_t seed_;
  const std::shared_ptr<const Layout> layout_;
  const std::shared_ptr<const int> keeper_;
  std::atomic<bool> lease_live_{true};
  std::vector<HeldRegion> regions_;
  std::vector<std::byte*> block_at_;
  RegionTable table_;
};

/// The first (block, lane) whose local bytes are not the holder's, in words; nothing if all are.
std::optional<std::string> difference(const HeldBlocks& held, BlockRange range,
                                      const BlockPlan& plan,
                                      std::span<std::byte* const> chunk_bases);

}  // namespace corail::test
