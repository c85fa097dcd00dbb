#include "apps/p2p_bench/report_json.h"

#include <optional>

namespace corail::bench {
namespace {

using OrderedJson = nlohmann::ordered_json;

template <typename T>
OrderedJson or_null(const std::optional<T>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson percentiles(const Statistics& values) {
  return {{"p50", values.p50}, {"p99", values.p99}};
}

OrderedJson names_of(const std::vector<AnswerEncoding>& encodings) {
  OrderedJson names = OrderedJson::array();
  for (const AnswerEncoding encoding : encodings) names.push_back(to_string(encoding));
  return names;
}

OrderedJson verbs_config_of(const BenchOptions& options) {
  const PathTuning& tuning = options.path_tuning;
  return {{"gid_index", or_null(options.gid_index)},
          {"traffic_class", tuning.traffic_class},
          {"service_level", tuning.service_level},
          {"ack_timeout", tuning.timeout},
          {"retry_count", tuning.retries},
          {"rnr_retry", tuning.rnr_retries},
          {"pkey_index", tuning.pkey_index},
          {"max_region_bytes", options.max_region_bytes},
          {"spin_us", options.spin_us}};
}

OrderedJson objects_of(const BenchOptions& options) {
  const ObjectWork& work = options.objects;
  if (work.count == 0) return nullptr;
  return {{"objects", work.count},
          {"object_mib", work.object_mib},
          {"stripe_mib", work.stripe_mib},
          {"store", work.store},
          {"mode", to_string(work.transfer)},
          {"scheduler", to_string(work.scheduler)}};
}

OrderedJson config_of(const BenchOptions& options) {
  const Shape& shape = options.shape;
  return {{"role", to_string(options.role)},
          {"objects", objects_of(options)},
          {"blocks", shape.blocks},
          {"layers", shape.layers},
          {"ranks", shape.ranks},
          {"segments", shape.segments},
          {"segment_bytes", shape.segment_bytes},
          {"numa_nodes", shape.numa_nodes},
          {"sets", shape.sets},
          {"layout", to_string(shape.placement)},
          {"seed", shape.seed},
          {"rails", options.rails},
          {"channels_per_rail", options.channels_per_rail},
          {"max_read_bytes", options.max_read_bytes},
          {"window_bytes", options.window_bytes},
          {"send_buffer_bytes", options.send_buffer_bytes},
          {"verbs", verbs_config_of(options)},
          {"huge_pages", options.huge_pages},
          {"iterations", options.iterations},
          {"duration_s", or_null(options.seconds)},
          {"warmup", options.warmup},
          {"integrity", to_string(options.integrity)},
          {"verify", options.verify ? "full" : "none"},
          {"encodings", names_of(options.encodings)},
          {"concurrency", options.concurrency},
          {"cancel_after_ms", or_null(options.cancel_after_ms)},
          {"retry_on_survivors", options.retry_on_survivors},
          {"lane_range", options.lane_range},
          {"limit_ratio", or_null(options.limit_ratio)}};
}

OrderedJson rails_of(const Summary& summary) {
  OrderedJson rails = OrderedJson::array();
  for (const RailShare& rail : summary.rails) {
    rails.push_back({{"name", rail.name},
                     {"bytes", rail.bytes},
                     {"reads", rail.reads},
                     {"share", rail.share},
                     {"errors", rail.errors},
                     {"down_reads", rail.down_reads},
                     {"down", rail.down.empty() ? OrderedJson(nullptr) : OrderedJson(rail.down)}});
  }
  return rails;
}

OrderedJson limit_of(const RunResult& result, const Summary& summary) {
  if (!summary.limit) {
    return {{"what", result.limit_missing}, {"gib_s", nullptr}, {"ratio", nullptr}};
  }
  OrderedJson per_call = OrderedJson::array();
  for (std::size_t i = 0; i < kLimitCallBytes.size(); ++i) {
    per_call.push_back(
        {{"call_bytes", kLimitCallBytes[i]}, {"gib_s", summary.limit->gib_s_per_call[i]}});
  }
  return {{"what", summary.limit->what},
          {"gib_s", summary.limit->gib_s},
          {"ratio", summary.limit->ratio},
          {"call_bytes", summary.limit->call_bytes},
          {"per_call", per_call}};
}

OrderedJson cancel_of(const Summary& summary) {
  if (!summary.cancel) return nullptr;
  return {{"latency_ms", percentiles(summary.cancel->latency_ms)},
          {"reused_bytes", summary.cancel->reused_bytes},
          {"late_bytes", summary.cancel->late_bytes}};
}

OrderedJson ranges_of(const Summary& summary) {
  if (!summary.ranges) return nullptr;
  return {{"sub_reads", summary.ranges->sub_reads},
          {"first_ms", percentiles(summary.ranges->first_ms)}};
}

OrderedJson summary_of(const RunResult& result, const Summary& summary) {
  OrderedJson stages;
  for (std::size_t i = 0; i < kStageNames.size(); ++i) {
    stages[kStageNames[i]] = percentiles(summary.stages_ms[i]);
  }
  const Statistics& goodput = summary.goodput_gib_s;
  return {
      {"bytes", summary.bytes},
      {"iterations", summary.iterations},
      {"goodput_gib_s", {{"median", goodput.median}, {"min", goodput.min}, {"max", goodput.max}}},
      {"put_gib_s",
       summary.put_gib_s ? OrderedJson(summary.put_gib_s->median) : OrderedJson(nullptr)},
      {"total_ms", percentiles(summary.total_ms)},
      {"stages_ms", stages},
      {"control_ms", percentiles(summary.control_ms)},
      {"verify_cpu_ms", summary.verify_cpu_ms.median},
      {"query_response_bytes", summary.query_response_bytes},
      {"run_table_bytes", summary.run_table_bytes},
      {"runs", summary.runs},
      {"reads_planned", summary.reads_planned},
      {"reads_posted", summary.reads_posted},
      {"mean_read_bytes", summary.mean_read_bytes},
      {"needed_bytes", summary.needed_bytes},
      {"read_bytes", summary.read_bytes},
      {"verified_bytes", summary.verified_bytes},
      {"verified_by", {{"integrity", summary.integrity_bytes}, {"content", summary.content_bytes}}},
      {"mismatched_bytes", summary.mismatched_bytes},
      {"bottleneck", to_string(summary.held_back.bottleneck)},
      {"bottleneck_evidence", summary.held_back.evidence},
      {"retried_slices", summary.retried_slices},
      {"retried_bytes", summary.retried_bytes},
      {"committed", summary.committed},
      {"cancelled", summary.cancelled},
      {"failed", summary.failed},
      {"cancel", cancel_of(summary)},
      {"lane_ranges", ranges_of(summary)},
      {"rails", rails_of(summary)},
      {"cpu_s_per_gib",
       {{"requester", summary.requester_cpu_s_per_gib},
        {"holder", or_null(summary.holder_cpu_s_per_gib)}}},
      {"peak_rss_bytes",
       {{"requester", summary.requester_peak_rss}, {"holder", or_null(summary.holder_peak_rss)}}},
      {"limit", limit_of(result, summary)}};
}

/// Every encoding that was measured, the first one of the summary included.
OrderedJson encodings_of(const RunResult& result, const Summary& summary) {
  OrderedJson encodings = OrderedJson::array();
  const auto add = [&encodings](const RunResult& of, const Summary& figures) {
    encodings.push_back(
        {{"encoding", to_string(figures.encoding)}, {"summary", summary_of(of, figures)}});
  };
  add(result, summary);
  for (std::size_t i = 0; i < summary.others.size(); ++i) {
    add(result.others[i], summary.others[i]);
  }
  return encodings;
}

}  // namespace

OrderedJson make_report(const BenchOptions& options, const RunResult& result,
                        const Summary& summary) {
  return {{"schema", kReportSchema},
          {"config", config_of(options)},
          {"machine", {{"cores", result.machine.cores}, {"numa_nodes", result.machine.numa_nodes}}},
          {"memory",
           {{"requester", encode_memory(result.requester_memory)},
            {"holder", encode_memory(result.holder_memory)}}},
          {"interrupted", result.interrupted},
          {"failures", failed_checks(options, result, summary)},
          {"summary", summary_of(result, summary)},
          {"encodings", encodings_of(result, summary)}};
}

}  // namespace corail::bench
