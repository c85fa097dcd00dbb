#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/read_round.h"
#include "apps/p2p_bench/trace_file.h"
#include "apps/p2p_bench/trace_result.h"
#include "rpc/node.h"

namespace corail::bench {

/// What a replay is made of. Everything is owned by the caller and outlives the replay.
struct TraceParts {
  const BenchOptions& options;
  const std::vector<TraceRequest>& requests;
  Node& holder;
  Node& requester;
  Peer& peer;  // the holder, as the requester knows it
  Clock& clock;
  CancelToken cancel;  // ends the replay
};

/// Replays the requests in their order, as many at a time as --concurrency has it: each fetches the
/// prefix of its blocks that the holder has, then the holder saves the others. The holder evicts
/// what was least recently used. Lives on the main thread; has threads of its own while it runs.
class TraceReplay {
 public:
  explicit TraceReplay(TraceParts parts);

  /// An error means that going on made no sense; the result then holds what there was before.
  Result<void> run(TraceResult& result);

 private:
  Result<void> work();
  Result<void> replay(std::size_t index);
  Result<void> account(const TraceRequest& request, ReadOutcome outcome);
  Result<void> account_failure(const ReadOutcome& outcome);
  Result<void> save(const TraceRequest& request);
  /// Waits for the request's time; false when the replay ends before.
  bool wait_for_turn(const TraceRequest& request);
  bool over() const;
  void end();
  /// When to cancel the read of a request, counted from its start; nothing for most.
  std::optional<Duration> abort_after(std::size_t index);

  const TraceParts parts_;
  const BenchOptions& options_;
  std::shared_ptr<const Layout> layout_;  // the requester's
  std::shared_ptr<const Layout> stored_;  // the same, interned by the holder
  TimePoint begin_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> ended_ = false;
  std::condition_variable end_;
  std::mutex mutex_;  // guards what follows
  TraceResult result_;
  Duration usual_{};  // how long reads have taken lately
};

}  // namespace corail::bench
