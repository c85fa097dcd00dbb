#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/rail/verbs/verbs_port.h"
#include "engine/verbs/queue_pair.h"

namespace corail {

// The calls of a queue pair's life that may take long: the kernel asks the network for the peer's
// address within the one, and waits for the device within the other. Run with run_on() on the
// port's control executor, so that a port's other rails go on; the caller has the queue pairs to
// itself until they return.

using QueuePairs = std::vector<std::unique_ptr<QueuePair>>;

/// A queue pair and how it gets to its peer.
struct PairPath {
  QueuePair* pair = nullptr;
  QueuePairPath path;
};

/// So many queue pairs in state INIT, or none of them.
Task<Result<QueuePairs>> make_pairs(VerbsPort* port, std::size_t count, bool serves_reads);

/// All of them answer from here on; with `sends` they may post, too. Ends with the first that
/// fails.
Task<Result<void>> connect_pairs(std::vector<PairPath> pairs, bool sends);

/// See QueuePair::destroy().
Task<Result<void>> destroy_pair(QueuePair* pair);

}  // namespace corail
