#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/memory_facts.h"
#include "engine/base/units.h"
#include "engine/read/read_report.h"

namespace corail::bench {

/// The sizes of send and receive calls that the raw loop tries; the best one counts.
inline constexpr std::array<std::uint64_t, 3> kLimitCallBytes = {256 * kKiB, kMiB, 4 * kMiB};

/// One committed read of the measured part.
struct Iteration {
  ReadReport report;
  std::uint64_t content_bytes = 0;     // compared by the bench's own check
  std::uint64_t mismatched_bytes = 0;  // found wrong by it
  double requester_cpu_s = 0;          // user + system, in the timed part
  std::optional<double> holder_cpu_s;
  double first_range_ms = 0;  // with lane ranges: until the first of them was committed
};

/// What the machine is, for people who compare figures.
struct Machine {
  std::uint32_t cores = 0;       // that this process may use
  std::uint32_t numa_nodes = 0;  // that exist
};

/// Everything a run measured, not yet reduced to figures.
struct RunResult {
  AnswerEncoding encoding = AnswerEncoding::kParts;
  std::vector<Iteration> iterations;  // committed ones
  std::vector<double> round_gib_s;    // of rounds in which every read committed
  std::vector<double> put_gib_s;      // of each object's put, where objects are read
  std::vector<double> cancel_ms;      // from cancel() until the cancelled read had returned
  std::uint64_t reused_bytes = 0;     // memory of cancelled reads that was looked at afterwards
  std::uint64_t late_bytes = 0;       // of them written after the read had returned
  std::uint64_t cancelled = 0;
  std::uint64_t failed = 0;
  std::vector<std::string> failures;  // one sentence each, the first few
  /// GiB/s of each round of the raw loop, per entry of kLimitCallBytes.
  std::array<std::vector<double>, kLimitCallBytes.size()> limit_gib_s;
  std::string limit_missing;  // why there is no limit; empty when there is one
  std::uint64_t requester_peak_rss = 0;
  std::optional<std::uint64_t> holder_peak_rss;
  std::optional<MemoryFacts> requester_memory;  // nothing when no slab was needed
  std::optional<MemoryFacts> holder_memory;     // nothing when the holder is remote
  Machine machine;
  bool interrupted = false;
  /// The same reads with the other encodings; only what reads measure is filled in there.
  std::vector<RunResult> others;
};

/// The most sentences kept in RunResult::failures (I8).
inline constexpr std::size_t kMaxFailures = 8;

}  // namespace corail::bench
