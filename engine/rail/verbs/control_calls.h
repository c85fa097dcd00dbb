#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/rail/verbs/verbs_port.h"
#include "engine/rail/verbs/write_grants.h"
#include "engine/verbs/queue_pair.h"

namespace corail {

// The calls of a queue pair's life that may take long: the kernel asks the network for the peer's
// address within one of them, and waits for the device within another. Run with run_on() on the
// port's control executor, so that a port's other rails go on; the caller has the queue pairs to
// itself until they return.

using QueuePairs = std::vector<std::unique_ptr<QueuePair>>;

/// A queue pair and how it gets to its peer.
struct PairPath {
  QueuePair* pair = nullptr;
  QueuePairPath path;
};

/// So many queue pairs in state INIT, or none of them.
Task<Result<QueuePairs>> make_pairs(VerbsPort* port, std::size_t count, PeerMay peer_may);

/// All of them answer, and may post, from here on. Ends with the first that fails.
Task<Result<void>> connect_pairs(std::vector<PairPath> pairs);

/// See QueuePair::fail().
Task<Result<void>> fail_pair(QueuePair* pair);

/// See QueuePair::destroy().
Task<Result<void>> destroy_pair(QueuePair* pair);

// Registering pins every page, and taking that back lets go of them.

/// A key to write for each piece of memory, or none of them.
Task<Result<WriteKeys>> make_write_keys(VerbsMemory* memory,
                                        std::vector<std::span<std::byte>> pieces);

Task<void> drop_write_keys(WriteKeys keys);

}  // namespace corail
