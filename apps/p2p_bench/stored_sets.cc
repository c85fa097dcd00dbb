#include "apps/p2p_bench/stored_sets.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "apps/p2p_bench/block_saver.h"
#include "apps/p2p_bench/node_call.h"
#include "apps/p2p_bench/save_steps.h"

namespace corail::bench {
namespace {

/// Room for the alignment of the extents of a save, on each node.
constexpr std::uint64_t kSlackPerSet = 64 * kKiB;
constexpr std::uint64_t kSlackPerSave = 256;

/// Sorts by address and joins neighbours.
SourceMemory join(SourceMemory segments) {
  std::ranges::sort(segments, {}, [](const auto& segment) { return segment.data(); });
  SourceMemory joined;
  for (const auto& segment : segments) {
    const bool abuts =
        !joined.empty() && joined.back().data() + joined.back().size() == segment.data();
    if (abuts) {
      joined.back() = {joined.back().data(), joined.back().size() + segment.size()};
    } else {
      joined.push_back(segment);
    }
  }
  return joined;
}

/// On the node's executor.
Result<SourceMemory> locate_set(const BlockStore& store, const Shape& shape, std::uint32_t set) {
  const std::string name_space = name_space_of(shape);
  SourceMemory segments;
  segments.reserve(std::size_t{shape.blocks} * shape.lanes());
  for (std::uint32_t block = 0; block < shape.blocks; ++block) {
    const std::string hash = block_hash(shape.seed, set, block);
    for (std::uint32_t lane = 0; lane < shape.lanes(); ++lane) {
      const auto place = store.locate(name_space, hash, lane);
      if (!place.ok()) return place.error();
      segments.emplace_back(reinterpret_cast<const std::byte*>(place->address), place->bytes);
    }
  }
  return segments;
}

void evict(Node& node, const Shape& shape, const SaveStep& step) {
  if (step.evicted.empty()) return;
  const BlockKeys keys = make_keys(shape, step.set, step.evicted);
  call_on(node.executor(), [&] {
    for (const std::string& hash : keys.hashes) node.blocks().erase(keys.name_space, hash);
  });
}

/// What regions that are no longer than that leave unused, because no block's part crosses their
/// borders; one region more than parts of equal size need.
std::uint64_t rests(const Shape& shape, std::uint64_t bytes, std::uint64_t max_region_bytes) {
  const std::vector<std::uint64_t> parts = block_bytes_by_part(shape);
  const std::uint64_t part = *std::max_element(parts.begin(), parts.end());
  if (max_region_bytes < part || max_region_bytes >= bytes) return 0;
  const std::uint64_t regions = bytes / (max_region_bytes / part * part) + 2;
  return regions * max_region_bytes - bytes;
}

}  // namespace

StoreOptions store_options_for(const Shape& shape, bool huge_pages,
                               std::uint64_t max_region_bytes) {
  StoreOptions options;
  options.huge_pages = huge_pages;
  const std::vector<std::uint64_t> bytes = held_bytes_by_node(shape);
  const std::uint64_t slack = kSlackPerSet * shape.sets + kSlackPerSave * save_steps(shape).size();
  for (std::uint32_t i = 0; i < shape.numa_nodes; ++i) {
    options.nodes.push_back({static_cast<std::int32_t>(i),
                             bytes[i] + slack + rests(shape, bytes[i], max_region_bytes)});
  }
  return options;
}

Result<std::vector<SourceMemory>> save_sets(Node& node, const Shape& shape) {
  auto made = make_layout(shape);
  if (!made.ok()) return std::move(made).error();
  const auto layout = call_on(node.executor(), [&] { return node.blocks().intern(*made); });
  for (const SaveStep& step : save_steps(shape)) {
    evict(node, shape, step);
    auto saved = save_blocks(node, BlocksToSave{shape, layout, step.set, step.blocks, step.turn});
    if (!saved.ok()) return std::move(saved).error();
  }
  std::vector<SourceMemory> sets;
  for (std::uint32_t set = 0; set < shape.sets; ++set) {
    auto segments = call_on(node.executor(), [&] { return locate_set(node.blocks(), shape, set); });
    if (!segments.ok()) return std::move(segments).error();
    sets.push_back(join(std::move(*segments)));
  }
  return sets;
}

}  // namespace corail::bench
