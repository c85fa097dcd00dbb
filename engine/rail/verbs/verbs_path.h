#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/base/result.h"
#include "engine/rail/verbs/greeting.h"
#include "engine/verbs/path_settings.h"

namespace corail {

/// The path from one of our queue pairs to one of the peer's, from what both ends have said. Pure.
/// Fails with kIncompatible where they cannot reach each other, kProtocol where the peer names no
/// such pair (I5).
Result<QueuePairPath> path_between(const Greeting& own, std::size_t own_pair, const Greeting& peer,
                                   std::size_t peer_pair, std::uint32_t gid_index,
                                   std::uint8_t port);

}  // namespace corail
