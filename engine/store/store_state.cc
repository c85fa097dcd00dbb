#include "engine/store/store_state.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <utility>

#include "engine/base/check.h"
#include "engine/store/published_arena.h"

namespace corail::detail {
namespace {

[[noreturn]] void cannot_start(const std::string& why) {
  throw std::runtime_error("the block store cannot start: " + why);
}

void check_options(const StoreOptions& options) {
  if (options.nodes.empty()) cannot_start("no NUMA node was given memory (nodes)");
  if (options.max_extent_bytes == 0) cannot_start("max_extent_bytes is 0");
  if (options.lease_ttl <= Duration::zero() || options.max_lease_ttl < options.lease_ttl) {
    cannot_start("lease_ttl must be positive and at most max_lease_ttl");
  }
  // More would overflow when it is added to the clock, and no saver needs a day.
  if (options.save_ttl <= Duration::zero() || options.save_ttl > std::chrono::hours(24)) {
    cannot_start("save_ttl must be more than 0 and at most 24 h");
  }
  // Slots are 32 bits and one value of them means none.
  if (options.max_blocks == 0 || options.max_blocks > 1'073'741'824) {
    cannot_start("max_blocks must be 1 to 2^30");
  }
}

}  // namespace

Result<void> check_keys(std::string_view name_space, std::span<const std::string_view> hashes,
                        std::uint32_t max_hashes, Stage stage) {
  if (name_space.size() > kMaxNamespaceBytes) {
    return Error(Errc::kInvalidArgument, stage,
                 fmt::format("a namespace has {} bytes, at most {} are allowed", name_space.size(),
                             kMaxNamespaceBytes));
  }
  if (hashes.empty()) return Error(Errc::kInvalidArgument, stage, "no hashes were given");
  if (hashes.size() > max_hashes) {
    return Error(Errc::kTooLarge, stage,
                 fmt::format("{} hashes were given, at most {} are allowed at a time; split them",
                             hashes.size(), max_hashes));
  }
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (hashes[i].empty() || hashes[i].size() > kMaxHashBytes) {
      return Error(Errc::kInvalidArgument, stage,
                   fmt::format("hash {} has {} bytes, 1 to {} are allowed", i, hashes[i].size(),
                               kMaxHashBytes));
    }
  }
  return ok_result();
}

StoreState::StoreState(StoreOptions options, RegionRegistry& registry, Clock& clock,
                       asio::any_io_executor executor, BootId boot)
    : options_(std::move(options)),
      registry_(registry),
      clock_(clock),
      executor_(std::move(executor)),
      leases_(options_, clock_, executor_, boot) {
  check_options(options_);
  std::string failure;
  for (const NodeCapacity& node : options_.nodes) {
    SlabOptions wanted;
    wanted.bytes = node.bytes;
    wanted.numa_node = node.numa_node;
    wanted.backing = options_.backing;
    wanted.huge_pages = options_.huge_pages;
    if (arena_of(node.numa_node) != nullptr) {
      failure = fmt::format("NUMA node {} was given memory twice", node.numa_node);
      break;
    }
    auto arena = publish_arena(wanted, options_.registrars, registry_);
    if (!arena) {
      failure = arena.error().to_string();
      break;
    }
    arenas_.push_back(std::move(*arena));
  }
  if (failure.empty()) return;
  unpublish();
  cannot_start(failure);
}

StoreState::~StoreState() { unpublish(); }

void StoreState::unpublish() {
  for (const auto& arena : arenas_) unpublish_arena(*arena, registry_);
}

std::shared_ptr<Arena> StoreState::arena_of(std::int32_t numa_node) const {
  for (const auto& arena : arenas_) {
    if (arena->slab().numa_node() == numa_node) return arena;
  }
  return nullptr;
}

std::string StoreState::list_nodes() const {
  std::string list;
  for (const auto& arena : arenas_) {
    list += fmt::format("{}{}", list.empty() ? "" : ", ", arena->slab().numa_node());
  }
  return list;
}

std::uint32_t StoreState::find(std::string_view name_space, std::string_view hash) const {
  const auto number = namespaces_.find(name_space);
  if (!number) return kNoSlot;
  return blocks_.find(BlockTable::tag_of(*number, hash), *number, hash);
}

void StoreState::insert(std::string_view name_space, std::string_view hash,
                        std::span<const PartRef> parts, const Layout* layout, Checksum64 checksum) {
  // The save holds a use of its own, so this one is not refused.
  const auto number = namespaces_.use(name_space, options_.max_namespaces);
  CORAIL_CHECK(number.has_value(), "a save in progress keeps its namespace");
  const std::uint32_t slot = blocks_.insert(*number, hash, parts);
  Block& block = blocks_.block(slot);
  block.layout = layout;
  block.checksum = checksum;
  for (const PartRef& part : parts) extents_.add_block(part.extent);
  seals_->sealed(name_space, hash);
}

bool StoreState::erase(std::uint32_t slot, const Arena* arena) {
  const Block& block = blocks_.block(slot);
  bool gave_up = false;
  for (const PartRef& part : block.parts()) {
    // Asked first: after the last block the entry is gone.
    const bool counts = arena != nullptr && &extents_.at(part.extent).extent->arena() == arena;
    const bool last = extents_.remove_block(part.extent);
    gave_up = gave_up || (counts && last);
  }
  namespaces_.drop(block.name_space);
  blocks_.erase(slot);
  return gave_up;
}

Result<SegmentLocation> StoreState::locate(std::string_view name_space, std::string_view hash,
                                           std::uint32_t lane) const {
  const std::uint32_t slot = find(name_space, hash);
  if (slot == kNoSlot) {
    return Error(Errc::kNotFound, "the store has no block with this namespace and hash");
  }
  const Block& block = blocks_.block(slot);
  if (lane >= block.layout->lanes()) {
    return Error(Errc::kInvalidArgument, fmt::format("lane {} of a layout with {} was asked for",
                                                     lane, block.layout->lanes()));
  }
  const Partition& partition = *extents_.at(block.parts().front().extent).shape->partition();
  const PartRef& part = block.parts()[partition.part_of[lane]];
  const ExtentTable::Entry& entry = extents_.at(part.extent);
  SegmentLocation location;
  location.address =
      reinterpret_cast<std::uint64_t>(entry.extent->segment(part.index, partition.rank_of[lane]));
  location.bytes = block.layout->lane_bytes()[lane];
  location.region = entry.region;
  return location;
}

StoreStats StoreState::stats() const {
  StoreStats stats = counters_;
  stats.blocks = blocks_.size();
  stats.extents = extents_.size();
  stats.leases = leases_.leases();
  stats.ended_reads = leases_.ended_reads();
  stats.lapsed_leases = leases_.lapsed();
  stats.watches = seals_->watches();
  stats.watched_keys = seals_->watched_keys();
  for (const auto& arena : arenas_) {
    stats.capacity_bytes += arena->slab().bytes();
    stats.free_bytes += arena->free_bytes();
  }
  return stats;
}

std::vector<std::string> StoreState::describe() const {
  std::vector<std::string> lines;
  lines.reserve(arenas_.size());
  for (const auto& arena : arenas_) lines.push_back(arena->slab().describe());
  return lines;
}

}  // namespace corail::detail
