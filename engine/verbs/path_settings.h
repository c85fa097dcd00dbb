#pragma once

#include <cstdint>

#include "engine/base/result.h"
#include "engine/verbs/device_facts.h"

namespace corail {

/// What a user may say of a port's paths, in the units of the InfiniBand specification. A value.
struct PathTuning {
  std::uint16_t pkey_index = 0;
  std::uint8_t service_level = 0;
  std::uint8_t traffic_class = 0;  // of the packets' IP header on RoCE
  /// A packet that is not acknowledged in 4.096 us x 2^timeout is sent again: 1.07 s. A loaded
  /// device, or an emulated one, takes longer than the 67 ms that drivers suggest.
  std::uint8_t timeout = 18;
  std::uint8_t retries = 7;  // of such packets, 0 to 7
  /// While the peer has no RECV posted; 7: for ever, so that a peer may hold up what writes to it.
  std::uint8_t rnr_retries = 6;
  std::uint8_t rnr_timer = 12;  // 0.64 ms between those

  bool operator==(const PathTuning&) const = default;
};

/// What a queue pair's attributes have bits for.
inline constexpr std::uint8_t kMaxServiceLevel = 15;
inline constexpr std::uint8_t kMaxAckTimeout = 31;
inline constexpr std::uint8_t kMaxRetries = 7;

/// Fails with kInvalidArgument, naming the option as users know it, for what does not fit into an
/// attribute, and for a timeout of 0: then a packet that is lost is waited for without end.
Result<void> check_tuning(const PathTuning& tuning);

/// What the peer of a queue pair may do with memory that it has keys for.
enum class PeerMay : std::uint8_t { kNothing, kRead, kWrite };

/// The path of one queue pair to one of the peer's, known once both have said what they are.
struct QueuePairPath {
  std::uint8_t port = 1;  // the local one
  LinkLayer link = LinkLayer::kEthernet;
  std::uint32_t mtu_bytes = 0;
  std::uint32_t gid_index = 0;  // the local one
  Gid peer_gid{};
  std::uint16_t peer_lid = 0;
  std::uint32_t peer_number = 0;  // of the peer's queue pair
  std::uint32_t peer_psn = 0;     // of the first packet that comes, 24 bits
  std::uint32_t own_psn = 0;      // of the first packet that goes, 24 bits
  std::uint8_t reads_sent = 1;
  std::uint8_t reads_answered = 1;
};

}  // namespace corail
