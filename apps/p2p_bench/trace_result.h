#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/base/clock.h"

namespace corail::bench {

/// What the replay of a trace counted. Every count is over the whole trace.
struct TraceResult {
  std::uint64_t requests = 0;        // that were replayed
  std::uint64_t trace_requests = 0;  // in the file
  std::uint64_t asked_blocks = 0;
  std::uint64_t hit_blocks = 0;  // of committed reads
  std::uint64_t misses = 0;      // requests of which not even the first block was there
  std::uint64_t committed = 0;   // reads
  std::uint64_t cancelled = 0;
  std::uint64_t failed = 0;
  std::uint64_t aborts = 0;     // cancels that were asked for before the read had ended
  std::uint64_t bytes = 0;      // of committed reads
  std::uint64_t over_read = 0;  // read beyond what was needed
  std::uint64_t wrong_bytes = 0;
  std::uint64_t saved_blocks = 0;
  std::uint64_t evicted_blocks = 0;
  std::uint64_t refused_saves = 0;    // the memory that they wanted was leased or too small
  std::vector<double> read_ms;        // committed reads, from the query to the view
  std::vector<double> cancel_ms;      // from cancel() until the cancelled read had returned
  std::vector<std::string> failures;  // one sentence each, the first few
  double seconds = 0;                 // the replay took
  bool interrupted = false;
};

}  // namespace corail::bench
