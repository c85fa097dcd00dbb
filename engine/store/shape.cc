#include "engine/store/shape.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/base/checksum.h"

namespace corail::detail {
namespace {

Error bad_parts(std::string detail) {
  return {Errc::kInvalidArgument, Stage::kSetup, std::move(detail)};
}

std::uint64_t hash_of(std::span<const std::uint32_t> values) noexcept {
  return xxh3_64(std::as_bytes(values));
}

std::shared_ptr<const Partition> make_partition(std::shared_ptr<const Layout> layout,
                                                std::vector<std::uint32_t> part_of,
                                                std::size_t parts) {
  auto partition = std::make_shared<Partition>();
  partition->parts.resize(parts);
  partition->rank_of.reserve(part_of.size());
  for (std::uint32_t lane = 0; lane < part_of.size(); ++lane) {
    Part& part = partition->parts[part_of[lane]];
    const std::uint32_t bytes = layout->lane_bytes()[lane];
    part.uniform =
        part.uniform && (part.lanes.empty() || layout->lane_bytes()[part.lanes.front()] == bytes);
    partition->rank_of.push_back(static_cast<std::uint32_t>(part.lanes.size()));
    part.lanes.push_back(lane);
    part.offset.push_back(part.bytes);
    part.bytes += bytes;
  }
  partition->part_of = std::move(part_of);
  partition->layout = std::move(layout);
  return partition;
}

}  // namespace

std::shared_ptr<const Layout> ShapeBook::intern(Layout layout) {
  const auto [begin, end] = layouts_.equal_range(layout.id());
  for (auto it = begin; it != end; ++it) {
    auto known = it->second.lock();
    if (known && known->same_shape(layout)) return known;
  }
  sweep();
  auto made = std::make_shared<const Layout>(std::move(layout));
  layouts_.emplace(made->id(), made);
  return made;
}

Result<std::shared_ptr<const Partition>> ShapeBook::partition(
    std::shared_ptr<const Layout> layout, std::span<const std::uint32_t> part_of_lane,
    std::size_t parts) {
  if (parts == 0 || parts > kMaxParts) {
    return bad_parts(fmt::format("a block has 1 to {} parts, not {}", kMaxParts, parts));
  }
  std::vector<std::uint32_t> part_of(part_of_lane.begin(), part_of_lane.end());
  if (part_of.empty()) part_of.assign(layout->lanes(), 0);
  if (part_of.size() != layout->lanes()) {
    return bad_parts(fmt::format("{} lanes were given a part, the layout has {}", part_of.size(),
                                 layout->lanes()));
  }
  const std::uint64_t hash = hash_of(part_of);
  const auto [begin, end] = partitions_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    auto known = it->second.lock();
    if (known && known->layout == layout && known->part_of == part_of &&
        known->parts.size() == parts) {
      return known;
    }
  }
  std::vector<bool> seen(parts, false);
  for (const std::uint32_t part : part_of) {
    if (part >= parts) {
      return bad_parts(fmt::format("a lane is in part {}, there are {}", part, parts));
    }
    seen[part] = true;
  }
  const auto empty = std::find(seen.begin(), seen.end(), false);
  if (empty != seen.end()) {
    return bad_parts(fmt::format("part {} has no lane", empty - seen.begin()));
  }
  sweep();
  auto made = make_partition(std::move(layout), std::move(part_of), parts);
  partitions_.emplace(hash, made);
  return made;
}

std::shared_ptr<const Shape> ShapeBook::shape(const std::shared_ptr<const Partition>& partition,
                                              std::uint32_t part, BlockOrder order,
                                              std::uint32_t blocks) {
  if (blocks == 1 || partition->parts[part].lanes.size() == 1) order = BlockOrder::kBlockMajor;
  // A live shape keeps its partition, so a key whose pointer was reused has an expired shape.
  const ShapeKey key(partition.get(), part, order, order == BlockOrder::kLaneMajor ? blocks : 0);
  const auto found = shapes_.find(key);
  if (found != shapes_.end()) {
    auto known = found->second.lock();
    if (known) return known;
  }
  sweep();
  auto made = std::make_shared<const Shape>(partition, part, order, blocks);
  shapes_[key] = made;
  return made;
}

void ShapeBook::sweep() {
  if (size() < sweep_at_) return;
  const auto expired = [](const auto& entry) { return entry.second.expired(); };
  std::erase_if(shapes_, expired);
  std::erase_if(partitions_, expired);
  std::erase_if(layouts_, expired);
  sweep_at_ = std::max<std::size_t>(64, 2 * size());
}

}  // namespace corail::detail
