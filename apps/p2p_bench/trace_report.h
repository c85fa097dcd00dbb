#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/trace_result.h"

namespace corail::bench {

inline constexpr const char* kTraceSchema = "corail.p2p_bench.trace.v1";

std::string make_trace_table(const BenchOptions& options, const TraceResult& result);
nlohmann::ordered_json make_trace_report(const BenchOptions& options, const TraceResult& result);

/// What is wrong with a replay, one sentence each; empty when every check passed.
std::vector<std::string> failed_trace_checks(const TraceResult& result);

}  // namespace corail::bench
