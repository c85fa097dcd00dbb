#pragma once

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/interrupt.h"
#include "apps/p2p_bench/report_file.h"

namespace corail::bench {

/// --trace: a holder and a requester in this process, connected over the rails; replays the file,
/// prints the table and writes the report. Returns the exit code; errors are one sentence on
/// standard error.
int run_trace(const BenchOptions& options, ReportFile& file, Interrupt& interrupt);

}  // namespace corail::bench
