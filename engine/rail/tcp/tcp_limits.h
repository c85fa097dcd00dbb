#pragma once

#include <chrono>
#include <cstdint>

#include "engine/base/units.h"

namespace corail {

/// Sockets of one rail, at most.
inline constexpr std::uint32_t kMaxChannels = 16;
/// See TcpOptions::send_buffer.
inline constexpr std::uint64_t kDefaultSendBufferBytes = 512 * kKiB;
/// What a channel receives before the others on its thread have their turn: a core's cache holds
/// it, and what is handed to the thread meanwhile waits for a turn of each.
inline constexpr std::uint64_t kTurnBytes = 512 * kKiB;
/// What a holder's channel sends at once while small slices, of no more than kSmallSliceBytes, and
/// larger ones are served by the same thread; longer turns cost less, so otherwise it is a whole
/// frame.
inline constexpr std::uint64_t kSmallSliceBytes = kMiB;
inline constexpr std::uint64_t kSharedTurnBytes = 256 * kKiB;
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
