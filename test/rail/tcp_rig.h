#pragma once

#include <asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/rail/rail_endpoint.h"
#include "engine/rail/tcp/tcp_options.h"
#include "engine/rail/tcp/tcp_rail_door.h"
#include "engine/rail/tcp/tcp_transport.h"
#include "test/rail/memory_gate.h"

namespace corail::test {

inline constexpr SessionId kSession{3};
inline constexpr ReadContext kRead{ReadId(11), EpochNumber(1)};

/// A door with one session, on this thread's io_context, for requesters of either kind.
struct TcpRig {
  explicit TcpRig(std::size_t memory_bytes) : TcpRig(memory_bytes, loopback_options()) {}
  TcpRig(std::size_t memory_bytes, TcpOptions own_options);

  static TcpOptions loopback_options();
  static ChannelToken token();

  std::unique_ptr<TcpTransport> make_transport(std::uint32_t channels);
  TimePoint soon() const { return clock.now() + std::chrono::seconds(60); }

  asio::io_context context;
  SteadyClock clock;
  TcpOptions options;
  MemoryGate gate;
  TcpRailDoor door;
  RailEndpoint endpoint;
};

/// Slices of `length` bytes that cover [0, target.size()) of the region in ascending order, with
/// tags from `first_tag` on.
std::vector<Slice> slices_over(std::span<std::byte> target, std::uint64_t length,
                               std::uint64_t first_tag);
/// The same, of a small read.
std::vector<Slice> small_slices_over(std::span<std::byte> target, std::uint64_t length,
                                     std::uint64_t first_tag);

}  // namespace corail::test
