#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/run_result.h"
#include "apps/p2p_bench/summary.h"

namespace corail::bench {

inline constexpr const char* kReportSchema = "corail.p2p_bench.v1";

/// The report of `--json`. Units are in the names (_bytes, _ms, _gib_s, _s_per_gib); GiB is 2^30.
/// Counts are those of one iteration, except mismatched_bytes, committed, cancelled, failed and the
/// rails', which are sums over the measured iterations. What a remote holder does not tell is null.
nlohmann::ordered_json make_report(const BenchOptions& options, const RunResult& result,
                                   const Summary& summary);

}  // namespace corail::bench
