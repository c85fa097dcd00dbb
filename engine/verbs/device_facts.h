#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace corail {

/// What a device can do at most, in the units of its own answers. A value.
struct DeviceLimits {
  std::uint64_t max_region_bytes = 0;    // of one registration
  std::uint32_t max_queue_requests = 0;  // of one send queue
  std::uint32_t max_completions = 0;     // of one completion queue
  std::uint32_t max_segments = 0;        // of one request: pieces of local memory
  std::uint32_t max_reads_sent = 0;      // READs that one queue pair may have under way
  std::uint32_t max_reads_answered = 0;  // READs that one queue pair answers at a time
  std::uint8_t ports = 0;
};

enum class LinkLayer : std::uint8_t { kInfiniBand = 1, kEthernet = 2 };

/// In the order of the InfiniBand specification. Those between down and active wait for a subnet
/// manager.
enum class PortState : std::uint8_t { kUnknown, kDown, kInitialized, kArmed, kActive, kDeferred };

/// A port as it is now. A value.
struct PortFacts {
  bool active = false;
  PortState state = PortState::kUnknown;
  LinkLayer link = LinkLayer::kEthernet;
  std::uint32_t mtu_bytes = 0;      // of one packet's payload
  std::uint32_t max_mtu_bytes = 0;  // that the device could do
  std::uint64_t max_message_bytes = 0;
  std::uint16_t lid = 0;  // InfiniBand only
};

enum class GidType : std::uint8_t { kInfiniBand, kRoceV1, kRoceV2 };

using Gid = std::array<std::uint8_t, 16>;

/// One entry of a port's table of GIDs. A value.
struct GidEntry {
  Gid gid{};
  std::uint32_t index = 0;
  GidType type = GidType::kInfiniBand;
};

}  // namespace corail
