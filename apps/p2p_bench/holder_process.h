#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/descriptor.h"
#include "apps/p2p_bench/memory_facts.h"

namespace corail::bench {

/// The first line of a supervised holder: {"control": ADDR:PORT, "limit": ADDR:PORT or "",
/// "memory": facts or null}.
struct HolderReady {
  std::string control;
  std::string limit;
  std::optional<MemoryFacts> memory;
};

/// The answer to each line "usage": {"cpu_s": N, "peak_rss_bytes": N}.
struct HolderUsage {
  double cpu_s = 0;
  std::uint64_t peak_rss = 0;
};

std::string encode_ready(const HolderReady& ready);
std::string encode_usage(const HolderUsage& usage);
std::optional<HolderReady> decode_ready(const std::string& line);
std::optional<HolderUsage> decode_usage(const std::string& line);

/// The holder as a child process, spoken to over its standard input and output. It ends when its
/// input closes, and is killed with this process, whatever happens to it. Owned by main(), used on
/// the thread that made it, which must outlive it.
class HolderProcess {
 public:
  /// Forks and executes this program again. Fails with kInvalidArgument when this program cannot be
  /// run.
  static Result<std::unique_ptr<HolderProcess>> start(const BenchOptions& options);
  /// Closes the child's input, waits for it a while, then kills it.
  ~HolderProcess();
  HolderProcess(const HolderProcess&) = delete;
  HolderProcess& operator=(const HolderProcess&) = delete;

  /// Waits until the child serves. A child that ended has said why itself: its exit code is in
  /// exit_code().
  Result<HolderReady> wait_ready();

  /// What the child's store is made of; nothing before wait_ready().
  const std::optional<MemoryFacts>& memory() const noexcept { return memory_; }

  /// Nothing when the child does not answer any more.
  std::optional<HolderUsage> usage();

  /// The child's exit code once it has ended; nothing while it runs.
  std::optional<int> exit_code();

 private:
  HolderProcess(pid_t pid, Descriptor input, Descriptor output)
      : pid_(pid), input_(std::move(input)), output_(std::move(output)) {}
  /// One line without its end; nothing once the child has ended, or after `patience_ms`.
  std::optional<std::string> read_line(int patience_ms);

  const pid_t pid_;
  Descriptor input_;
  Descriptor output_;
  std::string buffered_;
  std::optional<MemoryFacts> memory_;
  std::optional<int> exit_code_;
};

}  // namespace corail::bench
