#include "apps/p2p_bench/summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>

#include "apps/p2p_bench/option_values.h"
#include "apps/p2p_bench/range_read.h"

namespace corail::bench {
namespace {

double milliseconds(Duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

double gib(std::uint64_t bytes) { return static_cast<double>(bytes) / static_cast<double>(kGiB); }

std::array<Duration, kStageNames.size()> stages_of(const StageTimes& times) {
  return {times.query,  times.plan,   times.submit, times.wait,
          times.verify, times.commit, times.seal};
}

Duration control_of(const StageTimes& times) {
  return times.query + times.plan + times.submit + times.commit + times.seal;
}

using Measure = std::function<double(const Iteration&)>;

Statistics statistics_over(const RunResult& result, const Measure& measure) {
  std::vector<double> values;
  values.reserve(result.iterations.size());
  for (const Iteration& iteration : result.iterations) values.push_back(measure(iteration));
  return statistics_of(std::move(values));
}

void summarize_times(const BenchOptions& options, const RunResult& result, Summary& summary) {
  const double payload = gib(options.shape.payload_bytes());
  summary.total_ms = statistics_over(
      result, [](const Iteration& one) { return milliseconds(one.report.stages.total()); });
  summary.goodput_gib_s = statistics_over(result, [payload](const Iteration& one) {
    const double seconds = milliseconds(one.report.stages.total()) / 1e3;
    return seconds > 0 ? payload / seconds : 0;
  });
  if (options.concurrency > 1) summary.goodput_gib_s = statistics_of(result.round_gib_s);
  summary.control_ms = statistics_over(
      result, [](const Iteration& one) { return milliseconds(control_of(one.report.stages)); });
  summary.verify_cpu_ms = statistics_over(
      result, [](const Iteration& one) { return milliseconds(one.report.verify_cpu); });
  for (std::size_t i = 0; i < kStageNames.size(); ++i) {
    summary.stages_ms[i] = statistics_over(result, [i](const Iteration& one) {
      return milliseconds(stages_of(one.report.stages)[i]);
    });
  }
}

void summarize_counts(const RunResult& result, Summary& summary) {
  bool first = true;
  std::uint64_t posted = 0;
  std::uint64_t read = 0;
  for (const Iteration& one : result.iterations) {
    const ReadReport& report = one.report;
    const auto most = [](std::uint64_t& kept, std::uint64_t value) {
      kept = std::max(kept, value);
    };
    const auto least = [first](std::uint64_t& kept, std::uint64_t value) {
      kept = first ? value : std::min(kept, value);
    };
    most(summary.query_response_bytes, report.query_response_bytes);
    most(summary.run_table_bytes, report.run_table_bytes);
    most(summary.runs, report.runs);
    most(summary.reads_planned, report.reads_planned);
    most(summary.reads_posted, report.reads_posted);
    most(summary.needed_bytes, report.needed_bytes);
    most(summary.read_bytes, report.read_bytes);
    least(summary.integrity_bytes, report.verified_bytes);
    least(summary.content_bytes, one.content_bytes);
    summary.mismatched_bytes += one.mismatched_bytes;
    summary.retried_slices += report.retried_slices;
    summary.retried_bytes += report.retried_bytes;
    posted += report.reads_posted;
    read += report.read_bytes;
    first = false;
  }
  summary.verified_bytes = std::max(summary.integrity_bytes, summary.content_bytes);
  if (posted != 0) {
    summary.mean_read_bytes = static_cast<double>(read) / static_cast<double>(posted);
  }
}

void summarize_rails(const RunResult& result, Summary& summary) {
  std::uint64_t all = 0;
  for (const Iteration& one : result.iterations) {
    if (summary.rails.size() < one.report.rails.size()) {
      summary.rails.resize(one.report.rails.size());
    }
    for (std::size_t i = 0; i < one.report.rails.size(); ++i) {
      const RailReport& from = one.report.rails[i];
      RailShare& to = summary.rails[i];
      to.name = from.name;
      to.bytes += from.bytes;
      to.reads += from.reads;
      to.errors += from.errors;
      if (!from.down.empty()) {
        ++to.down_reads;
        to.down = from.down;
      }
      all += from.bytes;
    }
  }
  for (RailShare& rail : summary.rails) {
    if (all != 0) rail.share = static_cast<double>(rail.bytes) / static_cast<double>(all);
  }
}

void summarize_cpu(const BenchOptions& options, const RunResult& result, Summary& summary) {
  summary.requester_peak_rss = result.requester_peak_rss;
  summary.holder_peak_rss = result.holder_peak_rss;
  if (result.iterations.empty()) return;
  const double moved =
      gib(options.shape.payload_bytes()) * static_cast<double>(result.iterations.size());
  double requester = 0;
  double holder = 0;
  bool holder_known = true;
  for (const Iteration& one : result.iterations) {
    requester += one.requester_cpu_s;
    holder += one.holder_cpu_s.value_or(0);
    holder_known = holder_known && one.holder_cpu_s.has_value();
  }
  summary.requester_cpu_s_per_gib = requester / moved;
  if (holder_known) summary.holder_cpu_s_per_gib = holder / moved;
}

/// Of the read in the middle: its report is a whole, which no median of figures is.
void summarize_attribution(const RunResult& result, Summary& summary) {
  if (result.iterations.empty()) return;
  std::vector<const ReadReport*> reports;
  for (const Iteration& one : result.iterations) reports.push_back(&one.report);
  const auto middle = reports.begin() + static_cast<std::ptrdiff_t>(reports.size() / 2);
  std::ranges::nth_element(reports, middle, {},
                           [](const ReadReport* report) { return report->stages.total(); });
  summary.held_back = attribute(**middle, ReadSurroundings());
}

void summarize_limit(const BenchOptions& options, const RunResult& result, Summary& summary) {
  const auto empty = [](const std::vector<double>& rounds) { return rounds.empty(); };
  if (std::ranges::any_of(result.limit_gib_s, empty)) return;
  LimitFigures limit;
  for (std::size_t i = 0; i < kLimitCallBytes.size(); ++i) {
    const double median = statistics_of(result.limit_gib_s[i]).median;
    limit.gib_s_per_call.push_back(median);
    if (median <= limit.gib_s) continue;
    limit.gib_s = median;
    limit.call_bytes = kLimitCallBytes[i];
  }
  limit.what = fmt::format(
      "raw sockets, {} connections, one blocking thread per connection and side, same memory, "
      "{} calls (best of 256 KiB, 1 MiB, 4 MiB)",
      options.rails.size() * options.channels_per_rail, format_bytes(limit.call_bytes));
  if (limit.gib_s > 0) limit.ratio = summary.goodput_gib_s.median / limit.gib_s;
  summary.limit = std::move(limit);
}

/// What is wrong with the reads of one encoding.
std::vector<std::string> failed_reads(const BenchOptions& options, const RunResult& result,
                                      const Summary& summary) {
  std::vector<std::string> failures = result.failures;
  if (summary.mismatched_bytes != 0) {
    failures.push_back(fmt::format("{} bytes have wrong content", summary.mismatched_bytes));
  }
  if (summary.read_bytes != summary.needed_bytes) {
    failures.push_back(fmt::format("{} bytes were read where {} were needed", summary.read_bytes,
                                   summary.needed_bytes));
  }
  const bool checked = options.integrity == Integrity::kXxh3;
  if (checked && summary.committed != 0 && summary.integrity_bytes != summary.bytes) {
    failures.push_back(
        fmt::format("the engine verified {} of {} bytes", summary.integrity_bytes, summary.bytes));
  }
  if (summary.cancel && summary.cancel->late_bytes != 0) {
    failures.push_back(fmt::format("{} bytes were written after their cancelled read had returned",
                                   summary.cancel->late_bytes));
  }
  return failures;
}

}  // namespace

Summary summarize(const BenchOptions& options, const RunResult& result) {
  Summary summary;
  summary.encoding = result.encoding;
  summary.bytes = options.shape.payload_bytes();
  summary.iterations = result.iterations.size();
  summary.committed = result.iterations.size();
  summary.cancelled = result.cancelled;
  summary.failed = result.failed;
  summarize_times(options, result, summary);
  summarize_counts(result, summary);
  summarize_rails(result, summary);
  summarize_cpu(options, result, summary);
  summarize_attribution(result, summary);
  summarize_limit(options, result, summary);
  if (!result.put_gib_s.empty()) summary.put_gib_s = statistics_of(result.put_gib_s);
  if (options.cancel_after_ms) {
    summary.cancel =
        CancelFigures{statistics_of(result.cancel_ms), result.reused_bytes, result.late_bytes};
  }
  if (options.lane_range != 0) {
    summary.ranges.emplace();
    summary.ranges->sub_reads = ranges_of(options.shape.lanes(), options.lane_range).size();
    summary.ranges->first_ms =
        statistics_over(result, [](const Iteration& one) { return one.first_range_ms; });
  }
  for (const RunResult& other : result.others) summary.others.push_back(summarize(options, other));
  return summary;
}

std::vector<std::string> failed_checks(const BenchOptions& options, const RunResult& result,
                                       const Summary& summary) {
  std::vector<std::string> failures = failed_reads(options, result, summary);
  for (std::size_t i = 0; i < summary.others.size(); ++i) {
    const Summary& other = summary.others[i];
    for (const std::string& failure : failed_reads(options, result.others[i], other)) {
      failures.push_back(fmt::format("encoding {}: {}", to_string(other.encoding), failure));
    }
  }
  if (!options.limit_ratio || result.interrupted) return failures;
  if (!summary.limit) {
    failures.push_back(fmt::format("--limit-ratio {:.2f} could not be checked: {}",
                                   *options.limit_ratio, result.limit_missing));
  } else if (summary.limit->ratio < *options.limit_ratio) {
    failures.push_back(fmt::format("the ratio to the limit is {:.3f}, below --limit-ratio {:.2f}",
                                   summary.limit->ratio, *options.limit_ratio));
  }
  return failures;
}

}  // namespace corail::bench
