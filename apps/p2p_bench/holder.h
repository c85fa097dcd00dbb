#pragma once

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/interrupt.h"

namespace corail::bench {

/// Stores the sets and serves them until a signal, or until standard input closes where that is a
/// pipe. Supervised, it reports on standard output, see holder_process.h, and ignores SIGINT, which
/// a terminal sends to the parent too. Returns the exit code; errors are one sentence on stderr.
int run_holder(const BenchOptions& options, Interrupt& interrupt);

}  // namespace corail::bench
