#pragma once

#include <chrono>
#include <cstdint>

#include "engine/base/units.h"

namespace corail {

/// Sockets of one rail, at most.
inline constexpr std::uint32_t kMaxChannels = 16;
/// See TcpOptions::send_buffer.
inline constexpr std::uint64_t kDefaultSendBufferBytes = 512 * kKiB;
/// What a channel moves before the others on its thread have their turn: long turns cost less,
/// short ones let the slices of a small read through between those of large ones. So they are
/// short, on either side, while a slice of at most kSmallSliceBytes and one of another read are on
/// the rail's channels.
inline constexpr std::uint64_t kTurnBytes = kMiB;
inline constexpr std::uint64_t kSharedTurnBytes = 256 * kKiB;
inline constexpr std::uint64_t kSmallSliceBytes = kMiB;
inline constexpr std::uint64_t kMaxSocketBufferBytes = kGiB;

/// How a data channel learns that its path or the other host is gone, which no packet tells: a
/// silent channel is probed after kKeepAliveIdle, then every kKeepAliveInterval, and is lost when
/// kKeepAliveProbes of them or kUnacknowledgedTime have passed without an answer. Sent bytes that
/// are not acknowledged, and a window that stays shut, meet the latter as well.
inline constexpr std::chrono::seconds kKeepAliveIdle{5};
inline constexpr std::chrono::seconds kKeepAliveInterval{5};
inline constexpr int kKeepAliveProbes = 3;
inline constexpr std::chrono::seconds kUnacknowledgedTime{20};

}  // namespace corail
