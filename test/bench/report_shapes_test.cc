// What reports look like, for machines and for people.
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
                                             "/config/verbs/traffic_class",
                                             "/config/verbs/service_level",
                                             "/config/verbs/ack_timeout",
                                             "/config/verbs/retry_count",
                                             "/config/verbs/rnr_retry",
                                             "/config/verbs/pkey_index",
                                             "/config/verbs/max_region_bytes",
                                             "/config/verbs/spin_us",
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
  // The best one was chosen.
  BOOST_TEST(json["config"]["verbs"]["gid_index"].is_null());
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
