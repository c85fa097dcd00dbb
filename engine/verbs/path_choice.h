#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/result.h"
#include "engine/verbs/device_facts.h"

namespace corail {

/// Pure choices about a path, made from what devices say of themselves.

/// Whether a GID is an IPv4 address: ::ffff:a.b.c.d.
bool is_ipv4(const Gid& gid) noexcept;

/// The GID that a port's packets carry. `wanted` is an index of the user's; where it is given no
/// other is taken. On Ethernet RoCE v2 with an IPv4 address comes first, then RoCE v2 with a
/// routable address, then a link-local one; RoCE v1 only by index. On InfiniBand the first. Fails
/// with kInvalidArgument, naming what the port has.
Result<GidEntry> choose_gid(std::span<const GidEntry> gids, LinkLayer link,
                            std::optional<std::uint8_t> wanted, std::string_view port);

/// What one queue pair gets of what was wished, never more than the device has.
struct QueueSizes {
  std::uint32_t requests = 0;  // of its send queue
  std::uint32_t receives = 0;  // of its receive queue
  std::uint32_t segments = 0;  // of one request
  std::uint8_t reads_sent = 0;
  std::uint8_t reads_answered = 0;
};

/// Wishes that no device must meet.
inline constexpr std::uint32_t kWishedRequests = 128;
/// One for each order to write that may be under way, and one that stays for a fence.
inline constexpr std::uint32_t kWishedReceives = 33;
inline constexpr std::uint32_t kWishedSegments = 4;
inline constexpr std::uint32_t kWishedReads = 16;

QueueSizes clamp_queue(const DeviceLimits& limits) noexcept;

/// READs that one side may have under way to the other: what both can (1 at least).
std::uint8_t reads_under_way(std::uint8_t sent, std::uint8_t answered) noexcept;

/// The longest slice of a rail: the device's message, whole pages of it, at most 32 MiB.
std::uint64_t max_slice_bytes(const PortFacts& port) noexcept;

/// 256, 512, 1024, 2048 or 4096: the payload of a packet that both ends take; 0 where one of them
/// is no such number.
std::uint32_t path_mtu(std::uint32_t own_bytes, std::uint32_t peers_bytes) noexcept;

}  // namespace corail
