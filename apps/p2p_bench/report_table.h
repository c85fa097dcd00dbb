#pragma once

#include <string>

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/run_result.h"
#include "apps/p2p_bench/summary.h"

namespace corail::bench {

/// The report for people: what was measured on what, stages, goodput and limit, bytes per rail.
/// Units are in the headers. Ends with a newline.
std::string make_table(const BenchOptions& options, const RunResult& result,
                       const Summary& summary);

}  // namespace corail::bench
