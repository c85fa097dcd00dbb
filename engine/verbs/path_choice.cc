#include "engine/verbs/path_choice.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "engine/base/units.h"

namespace corail {
namespace {

constexpr std::uint64_t kMaxSliceBytes = 32 * kMiB;
constexpr std::uint64_t kPageBytes = 4 * kKiB;

bool is_link_local(const Gid& gid) noexcept { return gid[0] == 0xFE && (gid[1] & 0xC0) == 0x80; }

std::string_view type_name(GidType type) noexcept {
  switch (type) {
    case GidType::kRoceV1:
      return "RoCE v1";
    case GidType::kRoceV2:
      return "RoCE v2";
    default:
      return "InfiniBand";
  }
}

/// Lower is better; nothing: not to be taken unasked.
std::optional<int> rank(const GidEntry& entry, LinkLayer link) noexcept {
  if (link == LinkLayer::kInfiniBand) return 0;
  if (entry.type != GidType::kRoceV2) return std::nullopt;
  if (is_ipv4(entry.gid)) return 0;
  return is_link_local(entry.gid) ? 2 : 1;
}

std::string list(std::span<const GidEntry> gids) {
  std::string text;
  for (const GidEntry& entry : gids) {
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", entry.index, type_name(entry.type));
  }
  return text.empty() ? "none" : text;
}

std::uint8_t byte_of(std::uint32_t number) noexcept {
  const std::uint32_t most = std::numeric_limits<std::uint8_t>::max();
  return static_cast<std::uint8_t>(std::min(number, most));
}

}  // namespace

bool is_ipv4(const Gid& gid) noexcept {
  constexpr std::array<std::uint8_t, 12> kPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  return std::equal(kPrefix.begin(), kPrefix.end(), gid.begin());
}

Result<GidEntry> choose_gid(std::span<const GidEntry> gids, LinkLayer link,
                            std::optional<std::uint8_t> wanted, std::string_view port) {
  if (wanted) {
    const auto found = std::find_if(gids.begin(), gids.end(), [wanted](const GidEntry& entry) {
      return entry.index == *wanted;
    });
    if (found != gids.end()) return *found;
    return Error(
        Errc::kInvalidArgument, Stage::kSetup,
        fmt::format("{} has no GID with the index {}; it has {}", port, *wanted, list(gids)));
  }
  const GidEntry* best = nullptr;
  for (const GidEntry& entry : gids) {
    const auto own = rank(entry, link);
    if (own && (best == nullptr || *own < *rank(*best, link))) best = &entry;
  }
  if (best != nullptr) return *best;
  return Error(Errc::kInvalidArgument, Stage::kSetup,
               fmt::format("{} has no GID of RoCE v2, but {}; give its network interface an "
                           "address, or name an index, as in verbs:DEVICE:PORT/GID",
                           port, list(gids)));
}

QueueSizes clamp_queue(const DeviceLimits& limits) noexcept {
  QueueSizes sizes;
  sizes.requests = std::min(kWishedRequests, limits.max_queue_requests);
  sizes.receives = std::min(kWishedReceives, limits.max_queue_requests);
  sizes.segments = std::min(kWishedSegments, limits.max_segments);
  sizes.reads_sent = byte_of(std::min(kWishedReads, limits.max_reads_sent));
  sizes.reads_answered = byte_of(std::min(kWishedReads, limits.max_reads_answered));
  return sizes;
}

std::uint8_t reads_under_way(std::uint8_t sent, std::uint8_t answered) noexcept {
  return std::max<std::uint8_t>(1, std::min(sent, answered));
}

std::uint64_t max_slice_bytes(const PortFacts& port) noexcept {
  const std::uint64_t whole = port.max_message_bytes / kPageBytes * kPageBytes;
  return std::min(kMaxSliceBytes, whole);
}

std::uint32_t path_mtu(std::uint32_t own_bytes, std::uint32_t peers_bytes) noexcept {
  const auto known = [](std::uint32_t bytes) {
    return bytes == 256 || bytes == 512 || bytes == 1024 || bytes == 2048 || bytes == 4096;
  };
  return known(own_bytes) && known(peers_bytes) ? std::min(own_bytes, peers_bytes) : 0;
}

}  // namespace corail
