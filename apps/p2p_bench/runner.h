#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/holder_process.h"
#include "apps/p2p_bench/limit_client.h"
#include "apps/p2p_bench/progress.h"
#include "apps/p2p_bench/read_round.h"
#include "apps/p2p_bench/run_result.h"
#include "rpc/node.h"

namespace corail::bench {

/// One encoding that is measured, and the connected node that asks with it.
struct Asker {
  AnswerEncoding encoding = AnswerEncoding::kParts;
  Node* node = nullptr;
  Peer* peer = nullptr;
};

/// What a run is made of. Everything is owned by the caller and outlives the run.
struct RunParts {
  const BenchOptions& options;
  std::vector<Asker> askers;  // one per encoding, in order
  Clock& clock;
  CancelToken cancel;
  LimitClient* limit = nullptr;     // null: no limit is measured
  HolderProcess* holder = nullptr;  // null: the holder is remote, its figures are unknown
};

/// The iterations: warm-up, then in turns a round of reads with each encoding and a round of the
/// raw loop, until -n, -D, the cancel token or an error that will not go away. Lives on the main
/// thread; nothing that it times includes the start of a thread, a first touch (after one warm-up)
/// or the check of the content.
class Runner {
 public:
  Runner(RunParts parts, RunResult& result);

  /// Fills the result. An error means that going on made no sense; the result then holds what was
  /// measured before.
  Result<void> run();

 private:
  /// An encoding's turn: who asks, and where the figures go.
  struct Turn {
    const Asker& asker;
    RunResult& result;
    bool measured = false;
  };

  Result<void> put_objects();
  Result<void> run_iteration(std::uint64_t number, bool measured);
  Result<void> read_sets(const Turn& turn, std::uint64_t number);
  Result<void> take(const Turn& turn, ReadOutcome outcome, std::uint32_t set, Iteration iteration);
  Result<void> judge(const Turn& turn, const ReadOutcome& outcome);
  Result<void> account(const Turn& turn, const ReadOutcome& outcome, std::uint32_t set,
                       Iteration iteration);
  Result<void> check_size(const Turn& turn, std::span<const RangeView> ranges,
                          std::uint32_t set) const;
  void keep(const Turn& turn, Iteration iteration);
  Result<void> look_for_late_writes(const Turn& turn);
  void run_limit(std::uint32_t set, bool measured);
  void miss_limit(std::string why);
  std::optional<HolderUsage> holder_usage();
  void show(std::uint64_t number, bool measured);

  const RunParts parts_;
  const BenchOptions& options_;
  RunResult& result_;
  std::shared_ptr<const Layout> layout_;
  std::vector<std::vector<std::uint32_t>> orders_;      // per set
  std::vector<std::shared_ptr<const BlockKeys>> keys_;  // per set
  FetchOptions fetch_;
  ReadObjectOptions object_;
  LimitClient* limit_;
  Progress progress_;
};

}  // namespace corail::bench
