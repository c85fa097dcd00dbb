#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "apps/p2p_bench/report_json.h"
#include "apps/p2p_bench/report_table.h"
#include "apps/p2p_bench/summary.h"
#include "test/bench/report_samples.h"

namespace corail::bench {
namespace {

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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::bench
