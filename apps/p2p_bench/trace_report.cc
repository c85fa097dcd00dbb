#include "apps/p2p_bench/trace_report.h"

#include <fmt/core.h>

#include <iterator>

#include "apps/p2p_bench/option_values.h"
#include "apps/p2p_bench/statistics.h"

namespace corail::bench {
namespace {

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : 100 * static_cast<double>(part) / static_cast<double>(whole);
}

nlohmann::ordered_json latency_of(const Statistics& values) {
  return {{"p50", values.p50}, {"p99", values.p99}, {"max", values.max}};
}

}  // namespace

std::string make_trace_table(const BenchOptions& options, const TraceResult& result) {
  const Shape& shape = options.shape;
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "replay of {}: holder and requester are two nodes of this process\n",
                 options.trace);
  fmt::format_to(out, "blocks of {} x {} ({}), the holder keeps {}, layout {}\n", shape.lanes(),
                 format_bytes(shape.segment_bytes), format_bytes(shape.block_bytes()),
                 options.trace_capacity_blocks, to_string(shape.placement));
  fmt::format_to(out, "{} rails x {} channels, {} requests at a time, encoding {}, speed {}\n",
                 options.rails.size(), options.channels_per_rail, options.concurrency,
                 to_string(options.encodings.front()),
                 options.speed > 0 ? fmt::format("{}", options.speed) : "as fast as possible");
  if (result.interrupted) fmt::format_to(out, "interrupted, this is what there is so far\n");
  fmt::format_to(out, "\n");
  const auto row = [out](const char* name, const std::string& value) {
    fmt::format_to(out, "{:<38}{}\n", name, value);
  };
  row("requests",
      fmt::format("{} of {}, in {:.1f} s", result.requests, result.trace_requests, result.seconds));
  row("blocks asked for / hit",
      fmt::format("{} / {} ({:.1f} %)", result.asked_blocks, result.hit_blocks,
                  percent(result.hit_blocks, result.asked_blocks)));
  row("requests without any hit", fmt::format("{}", result.misses));
  row("blocks saved / evicted", fmt::format("{} / {}", result.saved_blocks, result.evicted_blocks));
  row("saves refused for want of memory", fmt::format("{}", result.refused_saves));
  row("committed / cancelled / failed",
      fmt::format("{} / {} / {}", result.committed, result.cancelled, result.failed));
  row("cancels asked for", fmt::format("{}", result.aborts));
  row("bytes read / needlessly / wrong",
      fmt::format("{} / {} / {}", result.bytes, result.over_read, result.wrong_bytes));
  const Statistics reads = statistics_of(result.read_ms);
  const Statistics cancels = statistics_of(result.cancel_ms);
  const auto times = [](const Statistics& of) {
    return fmt::format("{:.3f} / {:.3f} / {:.3f}", of.p50, of.p99, of.max);
  };
  row("read latency p50 / p99 / max [ms]", times(reads));
  row("cancel latency p50 / p99 / max [ms]", times(cancels));
  return text;
}

nlohmann::ordered_json make_trace_report(const BenchOptions& options, const TraceResult& result) {
  const Shape& shape = options.shape;
  return {{"schema", kTraceSchema},
          {"config",
           {{"trace", options.trace},
            {"block_bytes", shape.block_bytes()},
            {"segment_bytes", shape.segment_bytes},
            {"capacity_blocks", options.trace_capacity_blocks},
            {"layout", to_string(shape.placement)},
            {"encoding", to_string(options.encodings.front())},
            {"integrity", to_string(options.integrity)},
            {"verify", options.verify ? "full" : "none"},
            {"concurrency", options.concurrency},
            {"rails", options.rails},
            {"speed", options.speed},
            {"abort_rate", options.abort_rate},
            {"seed", shape.seed}}},
          {"one_process", true},
          {"interrupted", result.interrupted},
          {"failures", failed_trace_checks(result)},
          {"summary",
           {{"requests", result.requests},
            {"trace_requests", result.trace_requests},
            {"asked_blocks", result.asked_blocks},
            {"hit_blocks", result.hit_blocks},
            {"misses", result.misses},
            {"saved_blocks", result.saved_blocks},
            {"evicted_blocks", result.evicted_blocks},
            {"refused_saves", result.refused_saves},
            {"committed", result.committed},
            {"cancelled", result.cancelled},
            {"failed", result.failed},
            {"cancels_asked", result.aborts},
            {"bytes", result.bytes},
            {"over_read_bytes", result.over_read},
            {"mismatched_bytes", result.wrong_bytes},
            {"seconds", result.seconds},
            {"read_ms", latency_of(statistics_of(result.read_ms))},
            {"cancel_ms", latency_of(statistics_of(result.cancel_ms))}}}};
}

std::vector<std::string> failed_trace_checks(const TraceResult& result) {
  std::vector<std::string> failures = result.failures;
  if (result.failed != 0) failures.push_back(fmt::format("{} reads failed", result.failed));
  if (result.wrong_bytes != 0) {
    failures.push_back(fmt::format("{} bytes have wrong content", result.wrong_bytes));
  }
  if (result.over_read != 0) {
    failures.push_back(fmt::format("{} bytes were read that nobody needed", result.over_read));
  }
  return failures;
}

}  // namespace corail::bench
