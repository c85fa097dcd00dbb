#include "test/sim/held_content.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/base/checksum.h"
#include "test/support/pattern.h"

namespace corail::sim {
namespace {

/// Lanes lie this far apart in a block's pattern, so that no two segments are alike.
constexpr std::uint64_t kLanePitch = std::uint64_t{1} << 32;

std::uint64_t address(const void* at) noexcept { return reinterpret_cast<std::uintptr_t>(at); }

}  // namespace

std::uint64_t HeldContent::pattern_seed(BlockNumber block, std::uint32_t version) const noexcept {
  return mix64(salt_ ^ (std::uint64_t{block} << 32 | version));
}

void HeldContent::write(std::span<std::byte> at, BlockNumber block, std::uint32_t version,
                        std::uint32_t lane) {
  test::fill_pattern(at, pattern_seed(block, version), lane * kLanePitch);
  const std::uint64_t begin = address(at.data());
  auto over = segments_.upper_bound(begin);
  if (over != segments_.begin()) {
    const auto before = std::prev(over);
    if (before->first + before->second.bytes > begin) over = before;
  }
  while (over != segments_.end() && over->first < begin + at.size()) over = segments_.erase(over);
  Segment segment;
  segment.bytes = at.size();
  segment.block = block;
  segment.version = version;
  segment.lane = lane;
  segments_.emplace(begin, segment);
  written_[{block, version}][lane] = begin;
}

void HeldContent::saved(BlockNumber block, std::uint32_t version, TimePoint now) {
  Saved saved;
  saved.version = version;
  saved.from = now;
  saved_[block].push_back(saved);
}

std::optional<std::string> HeldContent::complaint(std::span<const std::byte> served,
                                                  const std::set<BlockNumber>& asked) const {
  std::uint64_t at = address(served.data());
  while (!served.empty()) {
    auto found = segments_.upper_bound(at);
    if (found == segments_.begin()) return fmt::format("nothing was ever saved at {:#x}", at);
    --found;
    const Segment& segment = found->second;
    const std::uint64_t within = at - found->first;
    if (within >= segment.bytes) return fmt::format("nothing was ever saved at {:#x}", at);
    if (!asked.contains(segment.block)) {
      return fmt::format("block {} lies at {:#x}, which the read did not ask for", segment.block,
                         at);
    }
    const std::uint64_t size = std::min<std::uint64_t>(served.size(), segment.bytes - within);
    const auto wrong =
        test::first_difference(served.first(size), pattern_seed(segment.block, segment.version),
                               segment.lane * kLanePitch + within);
    if (wrong) return fmt::format("block {} is not what was saved", segment.block);
    served = served.subspan(size);
    at += size;
  }
  return std::nullopt;
}

bool HeldContent::matches(std::span<const std::byte> segment, BlockNumber block,
                          std::uint32_t version, std::uint32_t lane) const {
  return !test::first_difference(segment, pattern_seed(block, version), lane * kLanePitch);
}

std::vector<std::uint32_t> HeldContent::current_between(BlockNumber block, TimePoint from,
                                                        TimePoint to) const {
  std::vector<std::uint32_t> versions;
  const auto found = saved_.find(block);
  if (found == saved_.end()) return versions;
  const std::vector<Saved>& all = found->second;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool ended_before = i + 1 < all.size() && all[i + 1].from < from;
    if (all[i].from <= to && !ended_before) versions.push_back(all[i].version);
  }
  return versions;
}

std::optional<std::uint64_t> HeldContent::address_of(BlockNumber block, std::uint32_t lane) const {
  const auto found = saved_.find(block);
  if (found == saved_.end()) return std::nullopt;
  return written_.at({block, found->second.back().version}).at(lane);
}

}  // namespace corail::sim
