#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "apps/p2p_bench/range_read.h"
#include "engine/base/clock.h"
#include "rpc/node.h"

namespace corail::bench {

/// Reads that start together. What it points to outlives the round.
struct RoundRequest {
  Node* node = nullptr;
  Peer* peer = nullptr;
  Clock* clock = nullptr;
  std::shared_ptr<const Layout> layout;
  std::vector<std::shared_ptr<const BlockKeys>> keys;  // one read for each
  std::vector<std::string> objects;                    // instead: each is looked up and read
  ReadObjectOptions object;                            // of which; its token as that of `fetch`
  FetchOptions fetch;                    // its token cancels all of them, also before they start
  std::optional<Duration> cancel_after;  // counted from the start of the round
  std::uint32_t lane_range = 0;          // lanes of each sub-read; 0: everything in one read
};

/// How one read of a round ended.
struct ReadOutcome {
  /// Everything. Of a read by lane ranges the report only: the bytes are in `ranges`.
  Result<BlockView> view;
  std::vector<RangeView> ranges;
  std::optional<ObjectView> object;       // likewise of an object: `view` has the report only
  Duration first_range{};                 // from the start until the first of them was committed
  TimePoint ended;                        // when it returned, seen on the node's executor
  std::optional<TimePoint> cancel_asked;  // nothing when it had ended before that
};

struct ReadRound {
  std::vector<ReadOutcome> reads;  // in the order of RoundRequest::keys, or objects
  Duration took{};                 // from the start until the last one had returned
};

/// Runs the reads and waits for all of them. Called from outside of the node's threads.
ReadRound run_round(const RoundRequest& request);

}  // namespace corail::bench
