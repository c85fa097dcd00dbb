#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "apps/p2p_bench/report_json.h"
#include "apps/p2p_bench/report_table.h"
#include "apps/p2p_bench/summary.h"

namespace corail::bench {
namespace {

using std::chrono::milliseconds;

ReadReport report_of(std::uint64_t bytes, int wait_ms) {
  ReadReport report;
  report.stages.query = milliseconds(1);
  report.stages.plan = milliseconds(2);
  report.stages.submit = milliseconds(3);
  report.stages.wait = milliseconds(wait_ms);
  report.stages.verify = milliseconds(4);
  report.stages.commit = milliseconds(5);
  report.stages.seal = milliseconds(6);
  report.verify_cpu = milliseconds(7);
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

RunResult three_iterations(const BenchOptions& options) {
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

bool mentions(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

BenchOptions four_rails() {
  BenchOptions options;
  options.rails = {"tcp:a", "tcp:b", "tcp:c", "tcp:d"};
  return options;
}

BOOST_AUTO_TEST_SUITE(report)

BOOST_AUTO_TEST_CASE(figures_follow_their_definitions) {
  const BenchOptions options = four_rails();
  const Summary summary = summarize(options, three_iterations(options));
  const double payload_gib =
      static_cast<double>(options.shape.payload_bytes()) / static_cast<double>(kGiB);
  // 1 + 2 + 182 + 4 + 5 + 6 ms; submit lies within wait.
  BOOST_TEST(summary.total_ms.p50 == 200.0);
  BOOST_TEST(summary.total_ms.p99 == 400.0);
  BOOST_TEST(summary.goodput_gib_s.median == payload_gib / 0.2, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(summary.goodput_gib_s.max == payload_gib / 0.1, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(summary.control_ms.p50 == 17.0);
  BOOST_TEST(summary.verify_cpu_ms.p50 == 7.0);
  BOOST_REQUIRE(summary.limit.has_value());
  BOOST_TEST(summary.limit->gib_s == 3.0);
  BOOST_TEST(summary.limit->call_bytes == kMiB);
  BOOST_TEST(summary.limit->ratio == summary.goodput_gib_s.median / 3.0);
  BOOST_TEST(summary.requester_cpu_s_per_gib == 0.1 / payload_gib,
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(summary.holder_cpu_s_per_gib.value() == 0.2 / payload_gib,
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(summary.rails.size() == 2U);
  BOOST_TEST(summary.rails[0].bytes == 3 * options.shape.payload_bytes());
  BOOST_TEST(summary.rails[0].share == 1.0);
  BOOST_TEST(summary.mean_read_bytes == static_cast<double>(options.shape.payload_bytes()) / 16);
  BOOST_TEST(summary.retried_slices == 6U);
  BOOST_TEST(summary.retried_bytes == 3000U);
  BOOST_TEST(summary.rails[0].down_reads == 0U);
  BOOST_TEST(summary.rails[1].down_reads == 1U);
  BOOST_TEST(summary.rails[1].down == "it was cut");
}

BOOST_AUTO_TEST_CASE(the_worst_iteration_shows) {
  const BenchOptions options = four_rails();
  RunResult result = three_iterations(options);
  BOOST_TEST(failed_checks(options, result, summarize(options, result)).empty());
  result.iterations[1].report.read_bytes += 1;
  result.iterations[2].report.verified_bytes -= 1;
  result.iterations[0].mismatched_bytes = 3;
  const Summary summary = summarize(options, result);
  BOOST_TEST(summary.read_bytes == summary.needed_bytes + 1);
  BOOST_TEST(summary.integrity_bytes == summary.bytes - 1);
  BOOST_TEST(summary.mismatched_bytes == 3U);
  BOOST_TEST(failed_checks(options, result, summary).size() == 3U);
}

BOOST_AUTO_TEST_CASE(each_encoding_is_reported_and_checked) {
  const BenchOptions options = four_rails();
  RunResult result = three_iterations(options);
  result.others.push_back(three_iterations(options));
  result.others[0].encoding = AnswerEncoding::kSegments;
  result.others[0].iterations[0].mismatched_bytes = 3;
  const Summary summary = summarize(options, result);
  const auto failures = failed_checks(options, result, summary);
  BOOST_REQUIRE(failures.size() == 1U);
  BOOST_TEST(mentions(failures[0], "encoding segments: 3 bytes"));
  const nlohmann::json json = make_report(options, result, summary);
  BOOST_TEST(json["encodings"].size() == 2U);
  BOOST_TEST(json["encodings"][0]["encoding"].get<std::string>() == "parts");
  BOOST_TEST((json["encodings"][0]["summary"] == json["summary"]));
  BOOST_TEST(json["encodings"][1]["encoding"].get<std::string>() == "segments");
  BOOST_TEST(json["encodings"][1]["summary"]["mismatched_bytes"].get<int>() == 3);
  BOOST_TEST(mentions(make_table(options, result, summary), "\nsegments "));
}

BOOST_AUTO_TEST_CASE(cancelled_reads_are_reported_and_a_late_byte_fails) {
  BenchOptions options = four_rails();
  options.cancel_after_ms = 0.5;
  RunResult result = three_iterations(options);
  result.cancelled = 2;
  result.cancel_ms = {3, 1};
  result.reused_bytes = 100;
  Summary summary = summarize(options, result);
  BOOST_TEST(failed_checks(options, result, summary).empty());
  BOOST_TEST(summary.cancel->latency_ms.p50 == 1.0);
  BOOST_TEST(summary.cancel->latency_ms.p99 == 3.0);
  const nlohmann::json json = make_report(options, result, summary);
  BOOST_TEST(json["summary"]["cancel"]["latency_ms"]["p99"].get<double>() == 3.0);
  BOOST_TEST(mentions(make_table(options, result, summary), "1.000 / 3.000"));
  result.late_bytes = 1;
  BOOST_TEST(failed_checks(options, result, summarize(options, result)).size() == 1U);
}

BOOST_AUTO_TEST_CASE(lane_ranges_are_reported_where_there_are_some) {
  BenchOptions options = four_rails();
  RunResult result = three_iterations(options);
  const nlohmann::json whole = make_report(options, result, summarize(options, result));
  BOOST_TEST(whole["summary"]["lane_ranges"].is_null());
  options.lane_range = options.shape.lanes() - 1;
  for (std::size_t i = 0; i < 3; ++i) {
    result.iterations[i].first_range_ms = 3.0 - static_cast<double>(i);
  }
  const Summary summary = summarize(options, result);
  const nlohmann::json json = make_report(options, result, summary);
  BOOST_TEST(json["config"]["lane_range"].get<std::uint32_t>() == options.lane_range);
  const nlohmann::json& ranges = json["summary"]["lane_ranges"];
  BOOST_TEST(ranges["sub_reads"].get<int>() == 2);
  BOOST_TEST(ranges["first_ms"]["p50"].get<double>() == 2.0);
  BOOST_TEST(ranges["first_ms"]["p99"].get<double>() == 3.0);
  BOOST_TEST(mentions(make_table(options, result, summary), "2.000 / 3.000, everything"));
}

BOOST_AUTO_TEST_CASE(the_goodput_of_concurrent_reads_is_that_of_their_rounds) {
  BenchOptions options = four_rails();
  options.concurrency = 3;
  RunResult result = three_iterations(options);
  result.round_gib_s = {2.5};
  BOOST_TEST(summarize(options, result).goodput_gib_s.median == 2.5);
}

BOOST_AUTO_TEST_CASE(a_ratio_below_the_limit_fails) {
  BenchOptions options = four_rails();
  RunResult result = three_iterations(options);
  options.limit_ratio = 0.01;
  BOOST_TEST(failed_checks(options, result, summarize(options, result)).empty());
  options.limit_ratio = 99;
  BOOST_TEST(failed_checks(options, result, summarize(options, result)).size() == 1U);
  result.limit_gib_s = {};
  result.limit_missing = "the holder offers none";
  options.limit_ratio = 0.01;
  const auto failures = failed_checks(options, result, summarize(options, result));
  BOOST_REQUIRE(failures.size() == 1U);
  BOOST_TEST(mentions(failures[0], "the holder offers none"));
}

BOOST_AUTO_TEST_CASE(json_has_every_field) {
  const BenchOptions options = four_rails();
  const RunResult result = three_iterations(options);
  const nlohmann::json json = make_report(options, result, summarize(options, result));
  BOOST_TEST(json.at("schema").get<std::string>() == "corail.p2p_bench.v1");
  const std::vector<std::string> pointers = {"/config/blocks",
                                             "/config/layers",
                                             "/config/ranks",
                                             "/config/segments",
                                             "/config/segment_bytes",
                                             "/config/numa_nodes",
                                             "/config/sets",
                                             "/config/layout",
                                             "/config/rails/0",
                                             "/config/channels_per_rail",
                                             "/config/max_read_bytes",
                                             "/config/window_bytes",
                                             "/config/warmup",
                                             "/config/integrity",
                                             "/config/verify",
                                             "/config/seed",
                                             "/config/retry_on_survivors",
                                             "/machine/cores",
                                             "/memory/requester/huge_pages",
                                             "/memory/requester/numa_bound",
                                             "/memory/holder/huge_pages",
                                             "/memory/holder/numa_bound",
                                             "/memory/holder/missing/0",
                                             "/summary/bytes",
                                             "/summary/verify_cpu_ms",
                                             "/summary/iterations",
                                             "/summary/goodput_gib_s/median",
                                             "/summary/goodput_gib_s/min",
                                             "/summary/goodput_gib_s/max",
                                             "/summary/total_ms/p50",
                                             "/summary/total_ms/p99",
                                             "/summary/query_response_bytes",
                                             "/summary/run_table_bytes",
                                             "/summary/runs",
                                             "/summary/reads_planned",
                                             "/summary/reads_posted",
                                             "/summary/mean_read_bytes",
                                             "/summary/needed_bytes",
                                             "/summary/read_bytes",
                                             "/summary/verified_bytes",
                                             "/summary/mismatched_bytes",
                                             "/summary/retried_slices",
                                             "/summary/retried_bytes",
                                             "/summary/committed",
                                             "/summary/cancelled",
                                             "/summary/failed",
                                             "/summary/rails/0/name",
                                             "/summary/rails/0/bytes",
                                             "/summary/rails/0/reads",
                                             "/summary/rails/0/share",
                                             "/summary/rails/0/errors",
                                             "/summary/rails/0/down_reads",
                                             "/summary/rails/1/down",
                                             "/summary/cpu_s_per_gib/requester",
                                             "/summary/cpu_s_per_gib/holder",
                                             "/summary/peak_rss_bytes/requester",
                                             "/summary/peak_rss_bytes/holder",
                                             "/summary/limit/what",
                                             "/summary/limit/gib_s",
                                             "/summary/limit/ratio"};
  for (const std::string& pointer : pointers) {
    const nlohmann::json::json_pointer path(pointer);
    BOOST_TEST(json.contains(path), pointer);
    if (json.contains(path)) BOOST_TEST(!json.at(path).is_null(), pointer);
  }
  // It was never down.
  BOOST_TEST(json["summary"]["rails"][0]["down"].is_null());
  for (const char* stage : kStageNames) {
    for (const char* percentile : {"p50", "p99"}) {
      BOOST_TEST(json["summary"]["stages_ms"][stage][percentile].is_number(), stage);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_a_remote_holder_does_not_tell_is_null) {
  const BenchOptions options = four_rails();
  RunResult result = three_iterations(options);
  for (Iteration& one : result.iterations) one.holder_cpu_s.reset();
  result.holder_peak_rss.reset();
  result.holder_memory.reset();
  result.limit_gib_s = {};
  result.limit_missing = "no limit endpoint";
  const Summary summary = summarize(options, result);
  const nlohmann::json json = make_report(options, result, summary);
  BOOST_TEST(json["summary"]["cpu_s_per_gib"]["holder"].is_null());
  BOOST_TEST(json["summary"]["peak_rss_bytes"]["holder"].is_null());
  BOOST_TEST(json["memory"]["holder"].is_null());
  BOOST_TEST(json["summary"]["limit"]["gib_s"].is_null());
  BOOST_TEST(json["summary"]["limit"]["ratio"].is_null());
  BOOST_TEST(mentions(make_table(options, result, summary), "no limit endpoint"));
}

BOOST_AUTO_TEST_CASE(an_empty_run_can_be_reported) {
  const BenchOptions options = four_rails();
  RunResult result;
  result.interrupted = true;
  const Summary summary = summarize(options, result);
  BOOST_TEST(make_report(options, result, summary)["summary"]["iterations"].get<int>() == 0);
  BOOST_TEST(mentions(make_table(options, result, summary), "interrupted"));
}

BOOST_AUTO_TEST_CASE(the_table_says_what_people_must_know) {
  const BenchOptions options = four_rails();
  const RunResult result = three_iterations(options);
  const std::string table = make_table(options, result, summarize(options, result));
  for (const char* what : {"p50 [ms]", "[GiB/s]", "ratio", "bytes [MiB]", "carried nothing",
                           "2 NUMA nodes of the shape are labels", "2 cores", "transport",
                           "requester's memory: slab of 1 MiB as a label only\n",
                           "holder's memory: slab of 2 MiB, plain pages\n",
                           "retried on other rails                6 slices, 3000 bytes\n",
                           "down in 1 of 3 reads: it was cut\n"}) {
    BOOST_TEST(mentions(table, what), what);
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::bench
