#include "test/support/held_blocks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/checksum.h"
#include "engine/base/units.h"
#include "test/support/pattern.h"

namespace corail::test {
namespace {

constexpr std::string_view kNameSpace = "test";

std::shared_ptr<const Layout> layout_of(const HeldShape& shape) {
  std::vector<Slot> slots(shape.lanes);
  for (Slot& slot : slots) slot.k_bytes = shape.lane_bytes;
  auto layout = Layout::make(std::move(slots));
  CORAIL_CHECK(layout, "the test's shape is valid");
  return std::make_shared<const Layout>(std::move(*layout));
}

std::string hash_of(std::uint32_t block) { return fmt::format("block-{}", block); }

}  // namespace

HeldBlocks::HeldBlocks(const HeldShape& shape, std::uint64_t seed)
    : shape_(shape), seed_(seed), layout_(layout_of(shape)), keeper_(std::make_shared<int>(0)) {
  const std::uint64_t pitch = layout_->block_bytes() + shape.gap_bytes;
  const std::uint32_t each = (shape.blocks + shape.regions - 1) / shape.regions;
  std::vector<Region> published;
  for (std::uint32_t first = 0; first < shape.blocks; first += each) {
    const std::uint32_t count = std::min(each, shape.blocks - first);
    HeldRegion held;
    held.id = RegionId(100 + first);
    held.memory.resize(pitch * count);
    for (std::uint32_t i = 0; i < count; ++i) {
      std::byte* const at = held.memory.data() + pitch * i;
      fill_pattern({at, layout_->block_bytes()}, seed_, layout_->block_bytes() * (first + i));
      block_at_.push_back(at);
    }
    Region region;
    region.id = held.id;
    region.base = reinterpret_cast<std::uintptr_t>(held.memory.data());
    region.length = held.memory.size();
    published.push_back(std::move(region));
    regions_.push_back(std::move(held));
  }
  auto table = RegionTable::make(TableGeneration(1), std::move(published));
  CORAIL_CHECK(table, "the test's regions are disjoint");
  table_ = std::move(*table);
}

HeldBlocks::~HeldBlocks() { CORAIL_CHECK(pins() == 0, "pins outlive no memory (I6)"); }

Result<PinnedBytes> HeldBlocks::admit(SessionId, ReadContext, RegionId region, std::uint64_t offset,
                                      std::uint64_t length) {
  if (!lease_live_) return Error(Errc::kLeaseExpired, "the test let the lease expire");
  for (const HeldRegion& held : regions_) {
    if (held.id != region) continue;
    const auto end = checked_add(offset, length);
    if (!end || *end > held.memory.size()) break;
    if (on_admit) on_admit(region, offset, length);
    return PinnedBytes(std::span(held.memory).subspan(offset, length), Pin(keeper_));
  }
  return Error(Errc::kRefused, "outside of what the test holds");
}

BlockRange HeldBlocks::all() const {
  BlockRange range;
  range.count = shape_.blocks;
  return range;
}

std::shared_ptr<const BlockPlan> HeldBlocks::plan(BlockRange range,
                                                  const PlanLimits& limits) const {
  RunTableBuilder builder(&table_);
  for (std::uint32_t lane = 0; lane < shape_.lanes; ++lane) {
    for (const std::byte* block : std::span(block_at_).subspan(range.first, range.count)) {
      builder.add(reinterpret_cast<std::uintptr_t>(block) +
                  std::uint64_t{lane} * shape_.lane_bytes);
    }
    builder.end_lane();
  }
  auto plan = plan_block_read(builder.take(), layout_, range.count, table_, limits);
  CORAIL_CHECK(plan, "what the test holds can be planned");
  return std::make_shared<const BlockPlan>(std::move(*plan));
}

BlockExpectation HeldBlocks::expectation(BlockRange range) const {
  std::vector<std::string> hashes;
  std::vector<std::uint64_t> checksums;
  for (std::uint32_t block = range.first; block < range.first + range.count; ++block) {
    hashes.push_back(hash_of(block));
    std::uint64_t sum = 0;
    for (std::uint32_t lane = 0; lane < shape_.lanes; ++lane) {
      sum += lane_term(xxh3_64(segment(block, lane)), lane);
    }
    const std::uint64_t identity = block_identity(kNameSpace, hashes.back(), layout_->id());
    checksums.push_back(block_checksum(sum, identity).value());
  }
  return expect_blocks(kNameSpace, hashes, layout_->id(), std::move(checksums));
}

std::span<const std::byte> HeldBlocks::segment(std::uint32_t block, std::uint32_t lane) const {
  return {block_at_[block] + std::uint64_t{lane} * shape_.lane_bytes, shape_.lane_bytes};
}

std::uint64_t HeldBlocks::total_bytes() const {
  return layout_->block_bytes() * std::uint64_t{shape_.blocks};
}

std::optional<std::string> difference(const HeldBlocks& held, BlockRange range,
                                      const BlockPlan& plan,
                                      std::span<std::byte* const> chunk_bases) {
  for (std::uint32_t block = 0; block < plan.blocks(); ++block) {
    for (std::uint32_t lane = 0; lane < plan.layout().lanes(); ++lane) {
      const BlockPlan::Place place = plan.locate(block, lane);
      const std::span<const std::byte> there = held.segment(range.first + block, lane);
      const std::byte* const here = chunk_bases[place.chunk] + place.offset;
      if (place.bytes == there.size() && std::memcmp(here, there.data(), there.size()) == 0) {
        continue;
      }
      return fmt::format("block {}, lane {} is not what the holder has", block, lane);
    }
  }
  return std::nullopt;
}

}  // namespace corail::test
