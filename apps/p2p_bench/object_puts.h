#pragma once

#include <vector>

#include "apps/p2p_bench/bench_shape.h"
#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/read/cancel_token.h"
#include "rpc/node.h"

namespace corail::bench {

/// Puts every object of the shape into the peer's store, one after the other, in place of those
/// that it has under these keys. GiB/s of each, from the call until it was committed. Called from
/// outside of the node's threads. Fails with the first put that does.
Result<std::vector<double>> put_objects(Node& node, Peer& peer, const Shape& shape, Clock& clock,
                                        const CancelToken& cancel);

}  // namespace corail::bench
