#include "apps/p2p_bench/bench_shape.h"

#include <fmt/core.h>

#include <array>
#include <cstring>
#include <utility>

#include "engine/base/checksum.h"
#include "engine/base/units.h"

namespace corail::bench {
namespace {

/// The most blocks of one query, as the holder's default limit has it.
constexpr std::uint32_t kMaxBlocks = 65'536;
/// Far more than any machine has; below it no size that is computed from a shape can overflow.
constexpr std::uint64_t kMaxStoredBytes = 1ULL << 46;

Error impossible(std::string sentence) {
  return Error(Errc::kInvalidArgument, std::move(sentence));
}

}  // namespace

Result<void> check_shape(const Shape& shape) {
  if (shape.blocks == 0 || shape.blocks > kMaxBlocks) {
    return impossible(
        fmt::format("--blocks {} is not possible, 1 to {} are", shape.blocks, kMaxBlocks));
  }
  if (shape.layers == 0 || shape.ranks == 0) {
    return impossible("--layers and --ranks must be at least 1");
  }
  const std::uint64_t slots = std::uint64_t{shape.layers} * shape.ranks;
  if (slots > kMaxSlots) {
    return impossible(
        fmt::format("--layers {} x --ranks {} makes {} slots, at most {} are possible",
                    shape.layers, shape.ranks, slots, kMaxSlots));
  }
  if (shape.segments != 1 && shape.segments != 2) {
    return impossible(fmt::format(
        "--segments {} is not possible, a slot has 1 segment or 2 (K and V)", shape.segments));
  }
  if (shape.segment_bytes == 0 || shape.segment_bytes > kMaxSegmentBytes) {
    return impossible(fmt::format("--segment-bytes {} is not possible, 1 byte to {} MiB are",
                                  shape.segment_bytes, kMaxSegmentBytes / kMiB));
  }
  if (shape.numa_nodes == 0 || shape.numa_nodes > shape.ranks) {
    return impossible(
        fmt::format("--numa-nodes {} is not possible with --ranks {}: every node needs "
                    "at least one rank",
                    shape.numa_nodes, shape.ranks));
  }
  if (shape.numa_nodes > kMaxParts) {
    return impossible(fmt::format("--numa-nodes {} is not possible, at most {} are",
                                  shape.numa_nodes, kMaxParts));
  }
  if (shape.placement == Placement::kMixedNuma && shape.numa_nodes < 2) {
    return impossible("--layout mixed-numa needs at least 2 --numa-nodes");
  }
  if (shape.sets == 0) return impossible("--sets must be at least 1");
  const auto stored = checked_mul(shape.payload_bytes(), shape.sets);
  if (!stored || *stored > kMaxStoredBytes) {
    return impossible(
        fmt::format("the flags of the shape make more than {} GiB, which no machine holds",
                    kMaxStoredBytes / kGiB));
  }
  return ok_result();
}

std::uint32_t node_of_rank(const Shape& shape, std::uint32_t rank) noexcept {
  return static_cast<std::uint32_t>(std::uint64_t{rank} * shape.numa_nodes / shape.ranks);
}

std::vector<std::uint32_t> part_of_lanes(const Shape& shape) {
  std::vector<std::uint32_t> parts;
  parts.reserve(shape.lanes());
  for (std::uint32_t slot = 0; slot < shape.slots(); ++slot) {
    const bool mixed = shape.placement == Placement::kMixedNuma;
    const std::uint32_t part =
        mixed ? slot % shape.numa_nodes : node_of_rank(shape, slot % shape.ranks);
    parts.insert(parts.end(), shape.segments, part);
  }
  return parts;
}

std::vector<std::uint64_t> block_bytes_by_part(const Shape& shape) {
  std::vector<std::uint64_t> bytes(shape.numa_nodes, 0);
  for (const std::uint32_t part : part_of_lanes(shape)) bytes[part] += shape.segment_bytes;
  return bytes;
}

Result<Layout> make_layout(const Shape& shape) {
  std::vector<Slot> slots(shape.slots());
  for (std::uint32_t i = 0; i < shape.slots(); ++i) {
    slots[i].k_bytes = shape.segment_bytes;
    slots[i].v_bytes = shape.segments == 2 ? shape.segment_bytes : 0;
    slots[i].numa_node = static_cast<std::int32_t>(node_of_rank(shape, i % shape.ranks));
  }
  return Layout::make(std::move(slots));
}

std::string block_hash(std::uint64_t seed, std::uint32_t set, std::uint32_t block) {
  // The second word is a bijection of (set, block), so two blocks of a run never collide.
  const std::array<std::uint64_t, 2> words = {mix64(seed ^ 0x70327062656E6368ULL),
                                              mix64(std::uint64_t{set} << 32 | block)};
  std::string hash(sizeof(words), '\0');
  std::memcpy(hash.data(), words.data(), sizeof(words));
  return hash;
}

std::string name_space_of(const Shape& shape) {
  return fmt::format(
      "p2p_bench blocks={} layers={} ranks={} segments={} segment-bytes={} numa-nodes={} sets={} "
      "layout={} seed={}",
      shape.blocks, shape.layers, shape.ranks, shape.segments, shape.segment_bytes,
      shape.numa_nodes, shape.sets, to_string(shape.placement), shape.seed);
}

BlockKeys make_keys(const Shape& shape, std::uint32_t set, std::span<const std::uint32_t> blocks) {
  BlockKeys keys;
  keys.name_space = name_space_of(shape);
  keys.hashes.reserve(blocks.size());
  for (const std::uint32_t block : blocks) {
    keys.hashes.push_back(block_hash(shape.seed, set, block));
  }
  return keys;
}

std::optional<std::string> first_difference(const Shape& here, const Shape& there) {
  struct Flag {
    const char* name;
    std::uint64_t here;
    std::uint64_t there;
  };
  const std::array flags = {
      Flag{"--blocks", here.blocks, there.blocks},
      Flag{"--layers", here.layers, there.layers},
      Flag{"--ranks", here.ranks, there.ranks},
      Flag{"--segments", here.segments, there.segments},
      Flag{"--segment-bytes", here.segment_bytes, there.segment_bytes},
      Flag{"--numa-nodes", here.numa_nodes, there.numa_nodes},
      Flag{"--sets", here.sets, there.sets},
      Flag{"--seed", here.seed, there.seed},
  };
  for (const Flag& flag : flags) {
    if (flag.here == flag.there) continue;
    return fmt::format("{} is {} here and {} there", flag.name, flag.here, flag.there);
  }
  if (here.placement == there.placement) return std::nullopt;
  return fmt::format("--layout is {} here and {} there", to_string(here.placement),
                     to_string(there.placement));
}

}  // namespace corail::bench
