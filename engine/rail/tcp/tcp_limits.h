#pragma once

#include <cstdint>

#include "engine/base/units.h"

namespace corail {

/// Sockets of one rail, at most.
inline constexpr std::uint32_t kMaxChannels = 16;
/// See TcpOptions::send_buffer.
inline constexpr std::uint64_t kDefaultSendBufferBytes = 512 * kKiB;
inline constexpr std::uint64_t kMaxSocketBufferBytes = kGiB;

}  // namespace corail
