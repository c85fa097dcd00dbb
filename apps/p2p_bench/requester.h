#pragma once

#include <string>

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/holder_process.h"
#include "apps/p2p_bench/interrupt.h"

namespace corail::bench {

/// Whom the requester asks. An empty `limit` means that there is no limit endpoint.
struct HolderAddresses {
  std::string control;
  std::string limit;
};

/// Where a holder that somebody else started has its limit endpoint: beside the control port.
std::string limit_beside(const std::string& control);

/// Connects, runs, prints the table and writes the report. `holder` is null when it is remote.
/// Returns the exit code; errors are one sentence on standard error.
int run_requester(const BenchOptions& options, const HolderAddresses& addresses,
                  HolderProcess* holder, Interrupt& interrupt);

}  // namespace corail::bench
