#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/p2p_bench/bench_shape.h"
#include "apps/p2p_bench/object_work.h"
#include "engine/base/log.h"
#include "rpc/options.h"

namespace corail::bench {

enum class Role { kBoth, kHolder, kRequester };

inline constexpr int kExitFine = 0;
inline constexpr int kExitCheckFailed = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitPeer = 3;
inline constexpr int kExitInterrupted = 130;

/// The most reads at a time: a holder grants one requester that many leases.
inline constexpr std::uint32_t kMaxConcurrency = 64;

/// The most iterations of a run, so that -D alone is bounded too (I8).
inline constexpr std::uint64_t kMaxIterations = 1'000'000;

/// Everything the command line says, checked. A value.
struct BenchOptions {
  Role role = Role::kBoth;
  std::string listen;  // the holder's control address; port 0: any free one
  std::string peer;    // whom to ask; requester only
  ObjectWork objects;  // read instead of blocks, where there are any; `shape` is theirs then
  Shape shape;
  std::vector<std::string> rails;
  std::uint32_t channels_per_rail = 2;
  std::uint64_t max_read_bytes = 0;
  std::uint64_t window_bytes = 0;
  std::uint64_t send_buffer_bytes = 0;
  PathTuning path_tuning;                 // of verbs rails
  std::optional<std::uint8_t> gid_index;  // of verbs rails that name none
  std::uint64_t max_region_bytes = 0;     // of a registration; 0: what the device takes
  std::uint32_t spin_us = 0;              // polling of verbs rails before they sleep
  bool huge_pages = false;
  std::uint64_t iterations = 9;
  std::optional<double> seconds;  // measured for so long, if that ends first
  std::uint64_t warmup = 1;
  Integrity integrity = Integrity::kXxh3;
  bool verify = true;  // the bench's own check of the content
  bool limit = true;   // measure the raw loop beside the reads
  std::vector<AnswerEncoding> encodings = {AnswerEncoding::kParts};  // each is measured
  std::uint32_t concurrency = 1;                                     // reads at a time
  std::optional<double> cancel_after_ms;  // measured reads are cancelled so long after their start
  bool retry_on_survivors = false;        // what a rail fails to bring is read over the others
  std::uint32_t lane_range = 0;           // lanes of a sub-read; 0: each read is one
  std::string trace;                      // a file of requests to replay, empty for none
  std::uint32_t trace_capacity_blocks = 32'768;  // that the holder keeps
  double speed = 0;                              // of the trace's time; 0: as fast as possible
  double abort_rate = 0;                         // of the trace's reads, 0 to 1
  std::optional<double> limit_ratio;
  bool list_rails = false;  // instead of a run
  std::string json;         // a path, "-" for standard output, empty for none
  LogLevel log_level = LogLevel::kError;
  bool supervised = false;  // a child of `both`: reports on stdout, ends with its stdin
};

/// What came of a command line: options, or a text to print and the exit code to end with.
struct ParsedOptions {
  std::optional<BenchOptions> options;
  std::string text;  // help or version (to stdout, code 0), or the usage error (to stderr, code 2)
  int exit_code = kExitFine;
};

/// Reads flags first, environment variables CORAIL_* second, presets third. Never throws.
ParsedOptions parse_options(int argc, const char* const* argv);

/// Refuses combinations that make no sense, in one sentence.
Result<void> check_options(const BenchOptions& options);

/// The command line that makes a child the holder of this run, without the program's name.
std::vector<std::string> holder_arguments(const BenchOptions& options);

std::string to_string(Role role);
std::string to_string(Integrity integrity);
std::string to_string(LogLevel level);
std::string to_string(AnswerEncoding encoding);

/// The longest read of the node that asks with this encoding: of segments, each is a read.
std::uint64_t max_read_bytes_for(const BenchOptions& options, AnswerEncoding encoding);

}  // namespace corail::bench
