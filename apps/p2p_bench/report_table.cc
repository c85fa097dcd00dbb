#include "apps/p2p_bench/report_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>

#include "apps/p2p_bench/option_values.h"

namespace corail::bench {
namespace {

using Out = std::back_insert_iterator<std::string>;

std::string plural(std::uint64_t count, const char* noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// The transports that the rail specs name, "tcp" or "tcp, verbs".
std::string transports(const BenchOptions& options) {
  std::string names;
  for (const std::string& rail : options.rails) {
    const std::string name = rail.substr(0, rail.find(':'));
    // What goes on with a list of devices names no transport.
    if (name != "tcp" && name != "verbs") continue;
    if (names.find(name) == std::string::npos) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

/// The slabs of one side that lack huge pages or a NUMA node which were asked for.
void write_missing(Out out, const char* side, const std::optional<MemoryFacts>& memory) {
  if (!memory) return;
  for (const std::string& line : memory->missing) {
    fmt::format_to(out, "{}'s memory: {}\n", side, line);
  }
}

std::string store_text(const ObjectWork& work) {
  if (work.in_memory()) return "memory";
  const std::size_t count = work.directories().size();
  return count == 1 ? "one directory" : fmt::format("{} directories", count);
}

void write_objects(Out out, const BenchOptions& options) {
  const ObjectWork& work = options.objects;
  const Shape& shape = options.shape;
  fmt::format_to(out, "{} of {} in {} of {}, {} an iteration\n", plural(work.count, "object"),
                 format_bytes(shape.payload_bytes()), plural(shape.blocks, "stripe"),
                 format_bytes(shape.block_bytes()), format_bytes(shape.payload_bytes()));
  fmt::format_to(out, "store {}, mode {}, scheduler {}, integrity {}, verify {}\n",
                 store_text(work), to_string(work.transfer), to_string(work.scheduler),
                 to_string(options.integrity), options.verify ? "full" : "none");
}

void write_blocks(Out out, const BenchOptions& options, const RunResult& result) {
  const Shape& shape = options.shape;
  fmt::format_to(out, "{} of {} ({} x {}), {} an iteration, {}, layout {}\n",
                 plural(shape.blocks, "block"), plural(shape.lanes(), "segment"),
                 plural(shape.slots(), "slot"), shape.segments, format_bytes(shape.payload_bytes()),
                 plural(shape.sets, "set"), to_string(shape.placement));
  fmt::format_to(out, "segments of {}, encoding {}, integrity {}, verify {}\n",
                 format_bytes(shape.segment_bytes), to_string(result.encoding),
                 to_string(options.integrity), options.verify ? "full" : "none");
}

void write_head(Out out, const BenchOptions& options, const RunResult& result) {
  const Shape& shape = options.shape;
  if (options.objects.count != 0) {
    write_objects(out, options);
  } else {
    write_blocks(out, options, result);
  }
  fmt::format_to(out, "transport {}, {} x {}, this machine has {}\n", transports(options),
                 plural(options.rails.size(), "rail"), plural(options.channels_per_rail, "channel"),
                 plural(result.machine.cores, "core"));
  if (shape.numa_nodes > result.machine.numa_nodes) {
    fmt::format_to(out, "the {} NUMA nodes of the shape are labels: this machine has {}\n",
                   shape.numa_nodes, result.machine.numa_nodes);
  }
  write_missing(out, "requester", result.requester_memory);
  write_missing(out, "holder", result.holder_memory);
}

void write_stages(Out out, const Summary& summary) {
  fmt::format_to(out, "\n{:<22}{:>12}{:>12}\n", "stage", "p50 [ms]", "p99 [ms]");
  const auto row = [out](const std::string& name, const Statistics& values) {
    fmt::format_to(out, "{:<22}{:>12.3f}{:>12.3f}\n", name, values.p50, values.p99);
  };
  for (std::size_t i = 0; i < kStageNames.size(); ++i) {
    const std::string name = kStageNames[i];
    row(name == "submit" ? "submit (within wait)" : name, summary.stages_ms[i]);
    if (name == "wait") row("hashing (within wait)", summary.verify_cpu_ms);
  }
  row("total", summary.total_ms);
  row("all but wait, verify", summary.control_ms);
}

void write_goodput(Out out, const RunResult& result, const Summary& summary) {
  const Statistics& goodput = summary.goodput_gib_s;
  fmt::format_to(out, "\n{:<22}{:>12}{:>12}{:>12}\n", "[GiB/s]", "median", "min", "max");
  fmt::format_to(out, "{:<22}{:>12.3f}{:>12.3f}{:>12.3f}\n", "goodput", goodput.median, goodput.min,
                 goodput.max);
  if (summary.put_gib_s) {
    const Statistics& put = *summary.put_gib_s;
    fmt::format_to(out, "{:<22}{:>12.3f}{:>12.3f}{:>12.3f}\n", "put", put.median, put.min, put.max);
  }
  if (!summary.limit) {
    fmt::format_to(out, "{:<22}{:>12}  {}\n", "limit", "-", result.limit_missing);
    return;
  }
  const auto index = std::ranges::find(kLimitCallBytes, summary.limit->call_bytes);
  const auto best = static_cast<std::size_t>(index - kLimitCallBytes.begin());
  const Statistics limit =
      best < kLimitCallBytes.size() ? statistics_of(result.limit_gib_s[best]) : Statistics();
  fmt::format_to(out, "{:<22}{:>12.3f}{:>12.3f}{:>12.3f}\n", "limit", limit.median, limit.min,
                 limit.max);
  fmt::format_to(out, "{:<22}{:>12.3f}\n", "ratio", summary.limit->ratio);
  fmt::format_to(out, "limit: {}\n", summary.limit->what);
}

void write_counts(Out out, const BenchOptions& options, const Summary& summary) {
  const auto row = [out](const char* name, const std::string& value) {
    fmt::format_to(out, "{:<38}{}\n", name, value);
  };
  fmt::format_to(out, "\n");
  if (options.objects.count == 0) {
    row("query answer [bytes]", fmt::format("{}, of which run table {}",
                                            summary.query_response_bytes, summary.run_table_bytes));
    row("runs", fmt::format("{}", summary.runs));
  }
  row("reads planned / posted", fmt::format("{} / {}, mean {:.0f} bytes", summary.reads_planned,
                                            summary.reads_posted, summary.mean_read_bytes));
  row("needed / read [bytes]", fmt::format("{} / {}", summary.needed_bytes, summary.read_bytes));
  row("verified [bytes]",
      fmt::format("{} by checksum, {} by content, {} wrong", summary.integrity_bytes,
                  summary.content_bytes, summary.mismatched_bytes));
  row("committed / cancelled / failed",
      fmt::format("{} / {} / {}", summary.committed, summary.cancelled, summary.failed));
  // A rail that is on trial gives back its slices, whatever was asked for.
  if (options.retry_on_survivors || summary.retried_slices != 0) {
    row("retried on other rails",
        fmt::format("{}, {} bytes", plural(summary.retried_slices, "slice"),
                    summary.retried_bytes));
  }
  const auto holder_cpu = summary.holder_cpu_s_per_gib
                              ? fmt::format("{:.3f}", *summary.holder_cpu_s_per_gib)
                              : std::string("unknown");
  row("CPU, requester / holder [s/GiB]",
      fmt::format("{:.3f} / {}", summary.requester_cpu_s_per_gib, holder_cpu));
  const auto mib = [](std::uint64_t bytes) { return bytes / kMiB; };
  const auto holder_rss = summary.holder_peak_rss ? fmt::format("{}", mib(*summary.holder_peak_rss))
                                                  : std::string("unknown");
  row("peak memory, requester / holder [MiB]",
      fmt::format("{} / {}", mib(summary.requester_peak_rss), holder_rss));
}

void write_attribution(Out out, const Summary& summary) {
  if (summary.iterations == 0) return;
  const std::string by(to_string(summary.held_back.bottleneck));
  fmt::format_to(out, "{:<38}{}: {}\n", "held back by", by, summary.held_back.evidence);
}

void write_rails(Out out, const Summary& summary) {
  std::size_t width = 20;
  for (const RailShare& rail : summary.rails) width = std::max(width, rail.name.size());
  fmt::format_to(out, "\n{:<{}}{:>14}{:>10}{:>12}{:>10}\n", "rail", width, "bytes [MiB]", "reads",
                 "share [%]", "errors");
  for (const RailShare& rail : summary.rails) {
    std::string remark = rail.bytes == 0 ? "  carried nothing" : "";
    if (rail.down_reads != 0) {
      remark += fmt::format("  down in {} of {}: {}", rail.down_reads,
                            plural(summary.iterations, "read"), rail.down);
    }
    fmt::format_to(out, "{:<{}}{:>14.1f}{:>10}{:>12.1f}{:>10}{}\n", rail.name, width,
                   static_cast<double>(rail.bytes) / static_cast<double>(kMiB), rail.reads,
                   rail.share * 100, rail.errors, remark);
  }
}

void write_encodings(Out out, const Summary& summary) {
  if (summary.others.empty()) return;
  fmt::format_to(out, "\n{:<10}{:>14}{:>10}{:>10}{:>10}{:>15}{:>13}{:>16}\n", "encoding",
                 "answer [bytes]", "runs", "planned", "posted", "control [ms]", "total [ms]",
                 "goodput [GiB/s]");
  const auto row = [out](const Summary& of) {
    fmt::format_to(out, "{:<10}{:>14}{:>10}{:>10}{:>10}{:>15.3f}{:>13.3f}{:>16.3f}\n",
                   to_string(of.encoding), of.query_response_bytes, of.runs, of.reads_planned,
                   of.reads_posted, of.control_ms.p50, of.total_ms.p50, of.goodput_gib_s.median);
  };
  row(summary);
  for (const Summary& other : summary.others) row(other);
  fmt::format_to(out,
                 "times are p50, control is all but wait and verify; {} is what is told above\n",
                 to_string(summary.encoding));
}

void write_ranges(Out out, const BenchOptions& options, const Summary& summary) {
  if (!summary.ranges) return;
  const RangeFigures& ranges = *summary.ranges;
  const auto row = [out](const char* name, const std::string& value) {
    fmt::format_to(out, "{:<38}{}\n", name, value);
  };
  row("sub-reads of a lease",
      fmt::format("{}, of {} of {}", ranges.sub_reads, plural(options.lane_range, "lane"),
                  options.shape.lanes()));
  row("first range committed p50 / p99 [ms]",
      fmt::format("{:.3f} / {:.3f}, everything {:.3f} / {:.3f}", ranges.first_ms.p50,
                  ranges.first_ms.p99, summary.total_ms.p50, summary.total_ms.p99));
}

void write_cancels(Out out, const Summary& summary) {
  if (!summary.cancel) return;
  const CancelFigures& cancel = *summary.cancel;
  fmt::format_to(out, "{:<38}{:.3f} / {:.3f}\n", "cancel latency p50 / p99 [ms]",
                 cancel.latency_ms.p50, cancel.latency_ms.p99);
  fmt::format_to(out, "{:<38}{} of {} in reused memory\n", "written after the return [bytes]",
                 cancel.late_bytes, cancel.reused_bytes);
}

}  // namespace

std::string make_table(const BenchOptions& options, const RunResult& result,
                       const Summary& summary) {
  std::string text;
  const Out out(text);
  write_head(out, options, result);
  if (result.interrupted) fmt::format_to(out, "interrupted, this is what there is so far\n");
  fmt::format_to(out, "{} measured", plural(summary.iterations, "iteration"));
  if (options.concurrency > 1) fmt::format_to(out, ", {} at a time", options.concurrency);
  fmt::format_to(out, "\n");
  write_stages(out, summary);
  write_goodput(out, result, summary);
  write_counts(out, options, summary);
  write_ranges(out, options, summary);
  write_cancels(out, summary);
  write_attribution(out, summary);
  write_rails(out, summary);
  write_encodings(out, summary);
  return text;
}

}  // namespace corail::bench
