#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/holder_process.h"
#include "apps/p2p_bench/limit_client.h"
#include "apps/p2p_bench/progress.h"
#include "apps/p2p_bench/run_result.h"
#include "rpc/node.h"

namespace corail::bench {

/// What a run is made of. Everything is owned by the caller and outlives the run.
struct RunParts {
  const BenchOptions& options;
  Node& node;
  Peer& peer;
  Clock& clock;
  CancelToken cancel;
  LimitClient* limit = nullptr;     // null: no limit is measured
  HolderProcess* holder = nullptr;  // null: the holder is remote, its figures are unknown
};

/// The iterations: warm-up, then pairs of a read and a round of the raw loop, until -n, -D, the
/// cancel token or an error that will not go away. Lives on the main thread; nothing that it times
/// includes the start of a thread, a first touch (after one warm-up) or the check of the content.
class Runner {
 public:
  Runner(RunParts parts, RunResult& result);

  /// Fills the result. An error means that going on made no sense; the result then holds what was
  /// measured before.
  Result<void> run();

 private:
  Result<void> run_pair(std::uint64_t number, bool measured);
  Result<void> read_set(std::uint32_t set, bool measured);
  Result<void> judge(const Error& error, bool measured);
  Result<void> account(BlockView view, std::uint32_t set, Iteration iteration, bool measured);
  void run_limit(std::uint32_t set, bool measured);
  Result<std::vector<SlabChunk>> limit_destination();
  std::optional<HolderUsage> holder_usage();
  void show(std::uint64_t number, bool measured);

  const RunParts parts_;
  const BenchOptions& options_;
  RunResult& result_;
  std::shared_ptr<const Layout> layout_;
  std::vector<std::shared_ptr<const BlockKeys>> keys_;  // per set
  FetchOptions fetch_;
  LimitClient* limit_;
  Progress progress_;
};

}  // namespace corail::bench
