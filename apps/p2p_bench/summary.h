#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/run_result.h"
#include "apps/p2p_bench/statistics.h"
#include "engine/read/attribution.h"

namespace corail::bench {

/// The names of the stages, in the order in which they run; `submit` lies within `wait`.
inline constexpr std::array<const char*, 7> kStageNames = {"query",  "plan",   "submit", "wait",
                                                           "verify", "commit", "seal"};

struct RailShare {
  std::string name;
  std::uint64_t bytes = 0;  // over all measured iterations, as are reads and errors
  std::uint64_t reads = 0;
  std::uint64_t errors = 0;
  double share = 0;              // of all bytes, 0 to 1
  std::uint64_t down_reads = 0;  // that it took no part in, or did not see the end of
  std::string down;              // why, the last time; empty where it never happened
};

struct LimitFigures {
  std::string what;
  double gib_s = 0;  // median of the best call size
  double ratio = 0;  // median goodput / gib_s
  std::uint64_t call_bytes = 0;
  std::vector<double> gib_s_per_call;  // medians, in the order of kLimitCallBytes
};

/// What became of the reads that were cancelled on purpose.
struct CancelFigures {
  Statistics latency_ms;           // from cancel() until the cancelled read had returned
  std::uint64_t reused_bytes = 0;  // memory of cancelled reads that was looked at afterwards
  std::uint64_t late_bytes = 0;    // of them written after the read had returned
};

/// Reads by ranges of lanes, each committed by itself.
struct RangeFigures {
  std::uint64_t sub_reads = 0;  // of one read
  Statistics first_ms;          // from the start of the query until the first one was committed
};

/// The figures of a run. Counts are those of one read; where reads differ the worst one shows: the
/// most bytes read, the fewest verified.
struct Summary {
  AnswerEncoding encoding = AnswerEncoding::kParts;
  std::uint64_t bytes = 0;       // payload of one read
  std::uint64_t iterations = 0;  // reads, --concurrency to a round
  Statistics goodput_gib_s;  // payload / (query ... seal), of concurrent reads that of the round
  Statistics total_ms;       // query ... seal
  std::array<Statistics, kStageNames.size()> stages_ms;
  Statistics control_ms;                // query + plan + submit + commit + seal of each iteration
  Attribution held_back;                // who held back the read of median duration
  std::optional<Statistics> put_gib_s;  // of objects, from BeginPut to the commit
  std::uint64_t query_response_bytes = 0;
  std::uint64_t run_table_bytes = 0;
  std::uint64_t runs = 0;
  std::uint64_t reads_planned = 0;
  std::uint64_t reads_posted = 0;
  double mean_read_bytes = 0;
  std::uint64_t needed_bytes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t verified_bytes = 0;    // by the engine's checksums or by content, whichever more
  std::uint64_t integrity_bytes = 0;   // by the engine's checksums
  std::uint64_t content_bytes = 0;     // by the bench's own check
  std::uint64_t mismatched_bytes = 0;  // over all measured iterations, as are the retried slices
  std::uint64_t retried_slices = 0;    // that another rail brought, because the first one failed
  std::uint64_t retried_bytes = 0;
  Statistics verify_cpu_ms;  // hashing on the rails' threads, within `wait`, summed
  std::uint64_t committed = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t failed = 0;
  std::vector<RailShare> rails;
  double requester_cpu_s_per_gib = 0;
  std::optional<double> holder_cpu_s_per_gib;
  std::uint64_t requester_peak_rss = 0;
  std::optional<std::uint64_t> holder_peak_rss;
  std::optional<LimitFigures> limit;
  std::optional<CancelFigures> cancel;  // with --cancel-after
  std::optional<RangeFigures> ranges;   // with --lane-range
  std::vector<Summary> others;          // the same reads with the other encodings
};

Summary summarize(const BenchOptions& options, const RunResult& result);

/// What is wrong with a run, one sentence each; empty when every check passed. Includes
/// --limit-ratio when it was asked for.
std::vector<std::string> failed_checks(const BenchOptions& options, const RunResult& result,
                                       const Summary& summary);

}  // namespace corail::bench
