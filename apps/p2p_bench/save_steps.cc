#include "apps/p2p_bench/save_steps.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "engine/base/random.h"

namespace corail::bench {
namespace {

/// Tell the uses of the shape's seed apart.
constexpr std::uint64_t kRequestSalt = 0x7065726D75746564ULL;
constexpr std::uint64_t kScatterSalt = 0x7363617474657265ULL;

std::vector<std::uint32_t> blocks_from(std::uint32_t first, std::uint32_t end,
                                       std::uint32_t step = 1) {
  std::vector<std::uint32_t> blocks;
  for (std::uint64_t block = first; block < end; block += step) {
    blocks.push_back(static_cast<std::uint32_t>(block));
  }
  return blocks;
}

template <typename T>
void shuffle(std::vector<T>& items, std::uint64_t seed) {
  SeededRandom random(seed);
  for (std::size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[random.below(i)]);
}

/// In turns over the sets, so that what was saved between two batches of a set is another set's.
std::vector<SaveStep> batches(const Shape& shape) {
  std::vector<SaveStep> steps;
  for (std::uint64_t first = 0; first < shape.blocks; first += kBatchBlocks) {
    const auto begin = static_cast<std::uint32_t>(first);
    const std::uint32_t end = begin + std::min(kBatchBlocks, shape.blocks - begin);
    for (std::uint32_t set = 0; set < shape.sets; ++set) {
      steps.push_back({set, {}, blocks_from(begin, end), 0});
    }
  }
  return steps;
}

std::vector<SaveStep> single_blocks(const Shape& shape) {
  std::vector<SaveStep> steps;
  for (std::uint32_t set = 0; set < shape.sets; ++set) {
    for (std::uint32_t block = 0; block < shape.blocks; ++block) {
      steps.push_back({set, {}, {block}, 0});
    }
  }
  shuffle(steps, shape.seed ^ kScatterSalt);
  return steps;
}

}  // namespace

std::vector<SaveStep> save_steps(const Shape& shape) {
  if (shape.placement == Placement::kBatched) return batches(shape);
  if (shape.placement == Placement::kScattered) return single_blocks(shape);
  std::vector<SaveStep> steps;
  for (std::uint32_t set = 0; set < shape.sets; ++set) {
    if (shape.placement == Placement::kMixedNuma) {
      const std::uint32_t turns = std::min(shape.numa_nodes, shape.blocks);
      for (std::uint32_t turn = 0; turn < turns; ++turn) {
        steps.push_back({set, {}, blocks_from(turn, shape.blocks, shape.numa_nodes), turn});
      }
      continue;
    }
    steps.push_back({set, {}, blocks_from(0, shape.blocks), 0});
    if (shape.placement == Placement::kFragmented && shape.blocks > 1) {
      const std::vector<std::uint32_t> odd = blocks_from(1, shape.blocks, 2);
      steps.push_back({set, odd, odd, 0});
    }
  }
  return steps;
}

std::uint32_t node_of_part(const Shape& shape, std::uint32_t part, std::uint32_t turn) noexcept {
  return static_cast<std::uint32_t>((std::uint64_t{part} + turn) % shape.numa_nodes);
}

std::vector<std::uint32_t> request_order(const Shape& shape, std::uint32_t set) {
  std::vector<std::uint32_t> order = blocks_from(0, shape.blocks);
  if (shape.placement == Placement::kPermuted) shuffle(order, (shape.seed ^ kRequestSalt) + set);
  return order;
}

std::vector<std::uint64_t> held_bytes_by_node(const Shape& shape) {
  const std::vector<std::uint64_t> per_block = block_bytes_by_part(shape);
  std::vector<std::uint64_t> bytes(shape.numa_nodes, 0);
  for (const SaveStep& step : save_steps(shape)) {
    for (std::uint32_t part = 0; part < per_block.size(); ++part) {
      bytes[node_of_part(shape, part, step.turn)] += per_block[part] * step.blocks.size();
    }
  }
  return bytes;
}

std::vector<std::uint64_t> set_bytes_by_node(const Shape& shape) {
  // All sets are alike, and what a fragmented one has twice it has on the same node.
  Shape one = shape;
  one.sets = 1;
  if (one.placement != Placement::kMixedNuma) one.placement = Placement::kBump;
  return held_bytes_by_node(one);
}

}  // namespace corail::bench
