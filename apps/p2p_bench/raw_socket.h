#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "apps/p2p_bench/descriptor.h"
#include "engine/base/clock.h"
#include "engine/base/result.h"

namespace corail::bench {

/// Plain blocking TCP sockets, for the raw loop that the engine is compared with. All of this may
/// be called on any thread; addresses are "host:port" or "[v6]:port".

/// Bound and listening, with SO_REUSEADDR. Port 0 takes a free one.
Result<Descriptor> listen_raw(const std::string& address);

/// The address that a socket is really bound to.
std::string local_address_of(const Descriptor& socket);

/// Connected from `local_host` (empty: any), with TCP_NODELAY. Gives up after `patience`.
Result<Descriptor> connect_raw(const std::string& local_host, const std::string& address,
                               Duration patience);

/// Sets TCP_NODELAY, as for an accepted socket.
void send_at_once(const Descriptor& socket);

/// Every send and receive that waits longer than this fails; 0 waits for ever.
void set_stall_limit(const Descriptor& socket, Duration limit);

/// In calls of at most `call_bytes`. False when the other side closed, stalled or failed.
bool send_all(const Descriptor& socket, std::span<const std::byte> bytes, std::uint64_t call_bytes);
bool receive_all(const Descriptor& socket, std::span<std::byte> bytes, std::uint64_t call_bytes);

/// "10.0.0.2" of "10.0.0.2:7700", "[::1]" of "[::1]:7700"; the port is 0 where there is none.
struct HostPort {
  std::string host;
  std::uint32_t port = 0;
};
HostPort split_address(const std::string& address);

}  // namespace corail::bench
