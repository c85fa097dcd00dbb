#include "engine/store/object_memory.h"

#include <fmt/core.h>

#include <algorithm>

#include "engine/store/arena.h"
#include "engine/store/published_arena.h"

namespace corail {
namespace {

/// Of a stripe's first byte: pages, so that neither devices nor disks meet a crooked address.
constexpr std::uint64_t kStripeAlignment = 4096;

}  // namespace

StripeBytes::StripeBytes(std::shared_ptr<detail::Arena> arena, std::uint64_t offset,
                         std::uint64_t bytes)
    : arena_(std::move(arena)), offset_(offset), bytes_(bytes) {}

StripeBytes::~StripeBytes() { arena_->free(offset_, bytes_); }

std::span<std::byte> StripeBytes::bytes() const noexcept {
  return {arena_->slab().data() + offset_, bytes_};
}

RegionId StripeBytes::region() const noexcept { return arena_->region_at(offset_); }

std::uint64_t StripeBytes::region_offset() const noexcept {
  const std::byte* const first = arena_->slab().data() + offset_;
  return static_cast<std::uint64_t>(first - arena_->region_data(offset_));
}

Result<std::shared_ptr<ObjectMemory>> ObjectMemory::create(const ObjectMemoryOptions& options,
                                                           RegionRegistry& registry) {
  if (options.nodes.empty()) {
    return Error(Errc::kInvalidArgument, Stage::kSetup,
                 "objects in memory were given no memory of any NUMA node");
  }
  // What was published so far goes with it where a later step fails.
  const std::shared_ptr<ObjectMemory> memory(new ObjectMemory(registry));
  for (const NodeCapacity& node : options.nodes) {
    const bool twice = std::ranges::any_of(memory->arenas_, [&node](const auto& arena) {
      return arena->slab().numa_node() == node.numa_node;
    });
    if (twice) {
      return Error(Errc::kInvalidArgument, Stage::kSetup,
                   fmt::format("NUMA node {} was given memory for objects twice", node.numa_node));
    }
    SlabOptions wanted;
    wanted.bytes = node.bytes;
    wanted.numa_node = node.numa_node;
    wanted.backing = options.backing;
    wanted.huge_pages = options.huge_pages;
    auto arena = detail::publish_arena(wanted, options.registrars, registry);
    if (!arena) return std::move(arena).error();
    memory->arenas_.push_back(std::move(*arena));
  }
  return memory;
}

ObjectMemory::~ObjectMemory() {
  for (const auto& arena : arenas_) detail::unpublish_arena(*arena, registry_);
}

Result<std::shared_ptr<StripeBytes>> ObjectMemory::allocate(std::uint64_t bytes,
                                                            std::uint32_t number) {
  std::uint64_t longest = 0;
  for (std::size_t i = 0; i < arenas_.size(); ++i) {
    const auto& arena = arenas_[(number + i) % arenas_.size()];
    longest = std::max(longest, arena->longest());
    const auto offset = arena->allocate(bytes, kStripeAlignment);
    if (offset) return std::make_shared<StripeBytes>(arena, *offset, bytes);
  }
  if (bytes > longest) {
    return Error(Errc::kTooLarge,
                 fmt::format("a stripe of {} bytes fits no region of this node's memory for "
                             "objects, the longest has {}; use smaller stripes",
                             bytes, longest));
  }
  return Error(Errc::kOutOfMemory,
               fmt::format("no {} bytes in a row are free of the {} that this node has for objects "
                           "in memory; delete some, or give it more",
                           bytes, capacity_bytes()));
}

std::uint64_t ObjectMemory::capacity_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const auto& arena : arenas_) bytes += arena->slab().bytes();
  return bytes;
}

std::uint64_t ObjectMemory::free_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& arena : arenas_) bytes += arena->free_bytes();
  return bytes;
}

std::vector<std::string> ObjectMemory::describe() const {
  std::vector<std::string> lines;
  for (const auto& arena : arenas_) lines.push_back(arena->slab().describe());
  return lines;
}

}  // namespace corail
