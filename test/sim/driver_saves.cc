// The savers of a simulated node.
#include <algorithm>
#include <string_view>
#include <utility>

#include "engine/store/save.h"
#include "test/sim/driver.h"

namespace corail::sim {
namespace {

constexpr std::uint32_t kSavesAtFirst = 4;
/// How long after a lapse its bytes may be written again, at most.
constexpr Duration kLatestReuse = std::chrono::milliseconds(4);

/// How the lanes of a block are dealt out to the parts of a save.
std::vector<std::uint32_t> parts_of(const Layout& layout, std::uint32_t parts) {
  std::vector<std::uint32_t> part_of_lane(layout.lanes());
  for (std::uint32_t lane = 0; lane < layout.lanes(); ++lane) part_of_lane[lane] = lane % parts;
  return part_of_lane;
}

}  // namespace

std::vector<BlockNumber> Driver::draw_blocks() {
  const auto name_space = static_cast<BlockNumber>(random_.below(kNamespaces));
  const auto first = draw_chance(random_, 75) ? 0 : random_.below(kMostBlocks);
  const std::uint64_t count = draw_between(random_, 1, kMostBlocks - first);
  std::vector<BlockNumber> blocks;
  for (std::uint64_t i = 0; i < count; ++i) {
    blocks.push_back(static_cast<BlockNumber>(name_space * kMostBlocks + first + i));
  }
  if (!draw_chance(random_, 20)) return blocks;
  for (std::size_t i = blocks.size(); i > 1; --i) {
    std::swap(blocks[i - 1], blocks[random_.below(i)]);
  }
  return blocks;
}

void Driver::erase_some(SimNode& node) {
  // All of a namespace as a rule: what is saved next then lies where its blocks lay.
  const auto first = static_cast<BlockNumber>(random_.below(kNamespaces) * kMostBlocks);
  const bool all = draw_chance(random_, 60);
  for (BlockNumber block = first; block < first + kMostBlocks; ++block) {
    if (all || draw_chance(random_, 20)) node.store().erase(name_space_of(block), hash_of(block));
  }
}

Task<void> Driver::reuse_after_lapse(SimNode* node) {
  const Duration late = draw_time(random_, kLatestReuse);
  co_await sleep(node->plan().options.lease_ttl + late);
  for (BlockNumber block = 0; block < kBlocks; ++block) {
    node->store().erase(name_space_of(block), hash_of(block));
  }
  for (std::uint32_t i = 0; i < kSavesAtFirst; ++i) co_await save_once(node);
}

Task<void> Driver::saver(SimNode* node) {
  // Some before the first reader comes.
  for (std::uint32_t i = 0; i < kSavesAtFirst; ++i) co_await save_once(node);
  for (std::uint32_t i = kSavesAtFirst; i < setup_.scenario.saves; ++i) {
    co_await pause();
    if (draw_chance(random_, 25)) erase_some(*node);
    co_await save_once(node);
  }
}

Task<void> Driver::save_once(SimNode* node) {
  const Layout& layout = *setup_.scenario.layout;
  const std::vector<BlockNumber> blocks = draw_blocks();
  std::vector<std::string> hashes;
  for (const BlockNumber block : blocks) hashes.push_back(hash_of(block));
  const std::vector<std::string_view> hash_views(hashes.begin(), hashes.end());
  const std::string name_space = name_space_of(blocks.front());
  const std::vector<std::uint32_t> part_of_lane = parts_of(layout, node->plan().parts);
  std::vector<std::int32_t> part_numa;
  for (std::uint32_t part = 0; part < node->plan().parts; ++part) {
    const auto& arenas = node->plan().store.nodes;
    part_numa.push_back(arenas[random_.below(arenas.size())].numa_node);
  }
  SaveRequest request;
  request.name_space = name_space;
  request.layout = node->store().intern(layout);
  request.hashes = hash_views;
  request.part_of_lane = part_of_lane;
  request.part_numa = part_numa;
  request.order = draw_chance(random_, 50) ? BlockOrder::kBlockMajor : BlockOrder::kLaneMajor;
  auto save = node->store().begin(request);
  if (!save) {
    setup_.model.journal().event("save at node {} failed: {}", node->index(),
                                 save.error().to_string());
    co_return;
  }
  HeldContent& content = setup_.model.content(node->index());
  const std::uint32_t version = content.next_version();
  const std::vector<std::uint32_t> fresh(save->new_blocks().begin(), save->new_blocks().end());
  std::vector<const std::byte*> first_lanes;
  for (const std::uint32_t position : fresh) {
    first_lanes.push_back(save->writable(position, 0).data());
    for (std::uint32_t lane = 0; lane < layout.lanes(); ++lane) {
      content.write(save->writable(position, lane), blocks[position], version, lane);
    }
  }
  for (std::uint32_t part = 0; part < node->plan().parts; ++part) {
    if (!save->put_part(part)) setup_.model.journal().violate(3, "a written part was not taken");
  }
  if (draw_chance(random_, 20)) co_await pause();
  if (draw_chance(random_, 10)) co_return;  // never sealed
  if (!save->seal()) setup_.model.journal().violate(3, "a complete save was not sealed");
  ++counts_.saves;
  setup_.model.journal().event("node {} saved {} new of {} blocks as version {}", node->index(),
                               fresh.size(), blocks.size(), version);
  for (std::size_t i = 0; i < fresh.size(); ++i) {
    const BlockNumber block = blocks[fresh[i]];
    // Somebody else may have sealed the block first, and theirs stays.
    const auto at = node->store().locate(name_space, hash_of(block), 0);
    const bool ours = at && at->address == reinterpret_cast<std::uintptr_t>(first_lanes[i]);
    if (ours) content.saved(block, version, setup_.world.now());
  }
}

}  // namespace corail::sim
