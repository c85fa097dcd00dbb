#pragma once

#include <asio/ip/tcp.hpp>
#include <cstdint>
#include <string>
#include <system_error>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/rail/tcp/data_frame.h"
#include "engine/rail/tcp/tcp_limits.h"

namespace corail {

/// Everything that can be tuned about tcp rails, for both sides of a port. A value.
struct TcpOptions {
  TcpOptions() {}

  std::string local_address;  // numeric; rails leave from it, doors listen on it

  /// Requester: sockets per rail for slices of any length, 1 to kMaxChannels. Where they are more
  /// than one, there is one more, the express channel, for those of small reads.
  std::uint32_t channels = 2;
  /// Requester: posted slices without an outcome over all channels, 1 to kMaxQueuedReads.
  std::uint32_t max_slices = 256;
  /// Requester: the most that one receive takes, so that what is done with the bytes next finds
  /// them in the cache.
  std::uint64_t receive_bytes = 512 * kKiB;

  /// Holder: 0 lets the kernel choose.
  std::uint16_t port = 0;
  /// Holder: payload behind one header, kMinFrameBytes to kMaxPayloadBytes; no more than
  /// kSharedTurnBytes beside small slices.
  std::uint64_t frame_bytes = kMaxPayloadBytes;
  /// Holder: how long a connection may take to say who it is.
  Duration preface_time = std::chrono::seconds(5);
  /// Holder: how long the requester may take to receive one batch of replies, of little more than
  /// frame_bytes, before its channel is closed: until then a whole lease's memory stays pinned.
  Duration stall_time = std::chrono::seconds(15);

  /// Size of the kernel's send buffer in bytes; 0 leaves it to its auto-tuning. What lies in it is
  /// sent whatever a CANCEL says, and one that outgrows a core's cache makes the kernel copy from
  /// memory what it has just copied there: on loopback a third of the bandwidth. A path on which
  /// more than this is under way per channel (bandwidth x round trip / channels) wants more.
  std::uint64_t send_buffer = kDefaultSendBufferBytes;
  /// The same for receiving; the kernel's auto-tuning suits every path.
  std::uint64_t receive_buffer = 0;
};

inline constexpr std::uint64_t kMinFrameBytes = 4 * kKiB;

/// Fails with kInvalidArgument, naming the option, its value and its range.
Result<void> check_options(const TcpOptions& options);

/// Buffer sizes, to be set before listen or connect, because they decide the window's scale.
void apply_buffer_sizes(asio::ip::tcp::socket::native_handle_type socket,
                        const TcpOptions& options) noexcept;

/// Binds a fresh socket to the local address, with any port. The port is chosen at connect, so that
/// one local port can serve connections to many peers.
void bind_local_address(asio::ip::tcp::socket& socket, const asio::ip::address& address,
                        std::error_code& error);

}  // namespace corail
