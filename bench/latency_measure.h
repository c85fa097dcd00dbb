#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "bench/latency_pair.h"

namespace corail::bench {

/// Times in ms of reads and of plain exchanges, taken in turns.
struct Alternating {
  std::vector<double> read_ms;
  std::vector<double> exchange_ms;
};
Result<Alternating> measure_alternating(LatencyPair& pair, std::uint32_t samples);

/// Times in ms of small reads with nothing beside them, and of those that began and ended while a
/// big one was running. The plain exchanges in turns with the latter tell what the machine's cores
/// and its scheduler have to do with it.
struct BesideBig {
  std::vector<double> alone_ms;
  std::vector<double> beside_ms;
  std::vector<double> exchange_beside_ms;
  std::uint64_t big_reads = 0;
};
Result<BesideBig> measure_beside_big(LatencyPair& pair, std::uint32_t samples);

/// The share of a core that this process uses while nobody asks it for anything, from
/// /proc/self/stat, 0 to the number of cores. Nothing where that cannot be read.
std::optional<double> idle_cpu_share(Clock& clock, Duration length);

}  // namespace corail::bench
