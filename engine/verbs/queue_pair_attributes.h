#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "engine/verbs/path_settings.h"

namespace corail {

/// The attributes of one step of a reliable queue pair's life, and which of them count. Pure.
struct QueuePairStep {
  ibv_qp_attr attributes{};
  int mask = 0;
};

/// RESET → INIT: on the port, and what the peer may do.
QueuePairStep to_init(const PathTuning& tuning, std::uint8_t port, PeerMay peer_may) noexcept;

/// INIT → RTR: the path to the peer. Its device's requests are answered from here on.
QueuePairStep to_ready_to_receive(const PathTuning& tuning, const QueuePairPath& path) noexcept;

/// RTR → RTS: requests of our own.
QueuePairStep to_ready_to_send(const PathTuning& tuning, const QueuePairPath& path) noexcept;

/// Any state → ERR: what is posted will be flushed.
QueuePairStep to_error() noexcept;

}  // namespace corail
