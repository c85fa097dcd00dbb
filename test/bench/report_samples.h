#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "apps/p2p_bench/summary.h"

namespace corail::bench {

inline ReadReport report_of(std::uint64_t bytes, int wait_ms) {
  ReadReport report;
  report.stages.query = std::chrono::milliseconds(1);
  report.stages.plan = std::chrono::milliseconds(2);
  report.stages.submit = std::chrono::milliseconds(3);
  report.stages.wait = std::chrono::milliseconds(wait_ms);
  report.stages.verify = std::chrono::milliseconds(4);
  report.stages.commit = std::chrono::milliseconds(5);
  report.stages.seal = std::chrono::milliseconds(6);
  report.verify_cpu = std::chrono::milliseconds(7);
  report.query_response_bytes = 9000;
  report.run_table_bytes = 8000;
  report.runs = 576;
  report.reads_planned = 10;
  report.reads_posted = 16;
  report.needed_bytes = report.read_bytes = report.verified_bytes = bytes;
  report.rails = {{"tcp:a>b", bytes, 16, 0}, {"tcp:c>d", 0, 0, 1}};
  report.retried_slices = 2;
  report.retried_bytes = 1000;
  return report;
}

inline RunResult three_iterations(const BenchOptions& options) {
  const std::uint64_t bytes = options.shape.payload_bytes();
  RunResult result;
  for (const int wait : {82, 382, 182}) {
    Iteration one;
    one.report = report_of(bytes, wait);
    one.content_bytes = bytes;
    one.requester_cpu_s = 0.1;
    one.holder_cpu_s = 0.2;
    result.iterations.push_back(one);
  }
  result.iterations[1].report.rails[1].down = "it was cut";
  result.limit_gib_s = {{{1, 2, 3}, {2, 4, 3}, {1, 1, 1}}};
  result.requester_peak_rss = 100 * kMiB;
  result.holder_peak_rss = 200 * kMiB;
  result.machine = {2, 1};
  result.requester_memory = MemoryFacts{true, false, {"slab of 1 MiB as a label only"}};
  result.holder_memory = MemoryFacts{false, true, {"slab of 2 MiB, plain pages"}};
  return result;
}

inline bool mentions(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

inline BenchOptions four_rails() {
  BenchOptions options;
  options.rails = {"tcp:a", "tcp:b", "tcp:c", "tcp:d"};
  return options;
}

}  // namespace corail::bench
