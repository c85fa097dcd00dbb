#pragma once

#include <string>

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/holder_process.h"
#include "apps/p2p_bench/interrupt.h"
#include "apps/p2p_bench/report_file.h"

namespace corail::bench {

/// Whom the requester asks. An empty `limit` means that there is no limit endpoint.
struct HolderAddresses {
  std::string control;
  std::string limit;
};

/// Where a holder that somebody else started has its limit endpoint: beside the control port.
std::string limit_beside(const std::string& control);

/// Connects, runs, prints the table and writes the report to `file`. `holder` is null when it is
/// remote. Returns the exit code; errors are one sentence on standard error.
int run_requester(const BenchOptions& options, const HolderAddresses& addresses,
                  HolderProcess* holder, ReportFile& file, Interrupt& interrupt);

}  // namespace corail::bench
