#include <boost/test/unit_test.hpp>
#include <cctype>

#include "apps/p2p_bench/bench_options.h"
#include "apps/p2p_bench/option_values.h"
#include "test/bench/parsed_options.h"

namespace corail::bench {
namespace {

BOOST_AUTO_TEST_SUITE(options)

BOOST_AUTO_TEST_CASE(defaults) {
  const BenchOptions options = accept({});
  BOOST_TEST((options.role == Role::kBoth));
  BOOST_TEST((options.shape == Shape{}));
  BOOST_TEST(options.rails.size() == 4U);
  BOOST_TEST(options.rails[3] == "tcp:127.0.0.4");
  BOOST_TEST(options.channels_per_rail == 2U);
  BOOST_TEST(options.max_read_bytes == 32 * kMiB);
  BOOST_TEST(options.iterations == 9U);
  BOOST_TEST(options.warmup == 1U);
  BOOST_TEST((options.integrity == Integrity::kXxh3));
  BOOST_TEST(options.verify);
  BOOST_TEST(options.limit);
  BOOST_TEST(options.listen == "127.0.0.1:0");
}

BOOST_AUTO_TEST_CASE(a_flag_beats_a_variable_and_both_beat_a_preset) {
  BOOST_TEST(accept({"--preset", "seed-4k"}).shape.blocks == 1000U);
  BOOST_TEST(accept({"--preset", "seed-64k"}).shape.segment_bytes == 65'536U);
  BOOST_TEST(accept({"--preset", "seed-4k", "--blocks", "5"}).shape.blocks == 5U);
  const Variable blocks("CORAIL_BLOCKS", "7");
  const Variable no_limit("CORAIL_NO_LIMIT", "1");
  const Variable window("CORAIL_WINDOW_BYTES", "64MiB");
  const BenchOptions options = accept({"--preset", "seed-4k"});
  BOOST_TEST(options.shape.blocks == 7U);
  BOOST_TEST(options.shape.segment_bytes == 4096U);
  BOOST_TEST(!options.limit);
  BOOST_TEST(options.window_bytes == 64 * kMiB);
  BOOST_TEST(accept({"--blocks", "3"}).shape.blocks == 3U);
}

BOOST_AUTO_TEST_CASE(a_bad_variable_is_a_usage_error) {
  const Variable blocks("CORAIL_BLOCKS", "many");
  BOOST_TEST(mentions(refuse({}), "--blocks"));
}

BOOST_AUTO_TEST_CASE(every_option_of_the_help_is_a_variable_by_one_rule) {
  const std::string help = parse({"--help"}).text;
  std::size_t options = 0;
  for (const std::string& line : split_list(help, '\n')) {
    const std::size_t dashes = line.find("--");
    if (!line.starts_with("  -") || dashes == std::string::npos) continue;
    const std::string name = line.substr(dashes, line.find(' ', dashes) - dashes);
    // A file may have any name.
    if (name == "--help" || name == "--version" || name == "--json" || name == "--trace") continue;
    std::string variable = "CORAIL_";
    for (const char c : name.substr(2)) {
      variable += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    }
    const Variable nonsense(variable.c_str(), "?");
    BOOST_TEST(mentions(refuse({}), name), name);
    ++options;
  }
  BOOST_TEST(options == 50U);
}

BOOST_AUTO_TEST_CASE(a_switch_takes_one_or_zero) {
  for (const char* value : {"1", "0"}) {
    const Variable no_limit("CORAIL_NO_LIMIT", value);
    BOOST_TEST(accept({}).limit == (value[0] == '0'));
  }
  const Variable no_limit("CORAIL_NO_LIMIT", "maybe");
  BOOST_TEST(mentions(refuse({}), "--no-limit = maybe is not possible, it takes 1 or 0."));
}

BOOST_AUTO_TEST_CASE(an_address_means_a_requester) {
  const BenchOptions options = accept({"--rails", "tcp:10.0.0.1,tcp:10.0.0.2", "10.0.0.2:7700"});
  BOOST_TEST((options.role == Role::kRequester));
  BOOST_TEST(options.peer == "10.0.0.2:7700");
  BOOST_TEST(options.rails.size() == 2U);
  BOOST_TEST(accept({"[::1]:7700"}).peer == "[::1]:7700");
}

BOOST_AUTO_TEST_CASE(a_duration_alone_is_not_cut_short_by_the_default_iterations) {
  BOOST_TEST(accept({"-D", "2.5"}).iterations == kMaxIterations);
  BOOST_TEST(accept({"-D", "2.5"}).seconds.value() == 2.5);
  BOOST_TEST(accept({"-D", "2.5", "-n", "3"}).iterations == 3U);
}

BOOST_AUTO_TEST_CASE(fewer_ranks_than_nodes_needs_no_second_flag) {
  BOOST_TEST(accept({"--ranks", "1"}).shape.numa_nodes == 1U);
  BOOST_TEST(mentions(refuse({"--ranks", "1", "--numa-nodes", "2"}), "--numa-nodes"));
}

BOOST_AUTO_TEST_CASE(nonsense_is_refused_in_one_sentence) {
  BOOST_TEST(mentions(refuse({"--blcks", "5"}), "did you mean --blocks?"));
  BOOST_TEST(mentions(refuse({"--blcks=5"}), "did you mean --blocks?"));
  BOOST_TEST(mentions(refuse({"--frobnicate"}), "there is no option --frobnicate"));
  BOOST_TEST(mentions(refuse({"-x"}), "there is no option -x"));
  BOOST_TEST(mentions(refuse({"a:1", "b:2"}), "one argument too many"));
  BOOST_TEST(mentions(refuse({"nowhere"}), "is not an address"));
  BOOST_TEST(mentions(refuse({"--blocks"}), "--blocks needs a value"));
  BOOST_TEST(mentions(refuse({"--blocks", "0"}), "--blocks"));
  BOOST_TEST(mentions(refuse({"--blocks", "-5"}), "--blocks"));
  BOOST_TEST(mentions(refuse({"--blocks", "99999999999999999999"}), "--blocks"));
  BOOST_TEST(mentions(refuse({"--segments", "3"}), "--segments"));
  BOOST_TEST(mentions(refuse({"--segment-bytes", "4XB"}), "is not a size"));
  BOOST_TEST(mentions(refuse({"--segment-bytes", "5GiB"}), "--segment-bytes"));
  BOOST_TEST(mentions(refuse({"--sets", "4000000000", "--blocks", "65536"}), "GiB"));
  BOOST_TEST(mentions(refuse({"--layout", "diagonal"}), "batched|bump|fragmented|lane-major"));
  BOOST_TEST(mentions(refuse({"--integrity", "md5"}), "none|xxh3"));
  BOOST_TEST(mentions(refuse({"--rails", "tcp:10.0.0.1,,tcp:10.0.0.2"}), "empty entry"));
  BOOST_TEST(mentions(refuse({"--rails", "pigeon:10.0.0.1"}), "pigeon"));
  BOOST_TEST(mentions(refuse({"--rails", "tcp:somewhere"}), "somewhere"));
  BOOST_TEST(mentions(refuse({"--max-read-bytes", "1KiB"}), "--max-read-bytes"));
  BOOST_TEST(mentions(refuse({"--channels-per-rail", "65"}), "--channels-per-rail"));
  BOOST_TEST(mentions(refuse({"--window-bytes", "1MiB"}), "--window-bytes"));
  BOOST_TEST(mentions(refuse({"-n", "0"}), "--iterations"));
  BOOST_TEST(mentions(refuse({"-D", "0"}), "above 0"));
  BOOST_TEST(mentions(refuse({"--limit-ratio", "0.8", "--no-limit"}), "--no-limit"));
  BOOST_TEST(mentions(refuse({"--limit-ratio", "much"}), "--limit-ratio"));
}

BOOST_AUTO_TEST_CASE(encodings_are_a_list) {
  BOOST_TEST((accept({}).encodings == std::vector{AnswerEncoding::kParts}));
  const BenchOptions options = accept({"--encoding", "segments,parts", "--max-read-bytes", "8KiB"});
  BOOST_TEST((options.encodings == std::vector{AnswerEncoding::kSegments, AnswerEncoding::kParts}));
  BOOST_TEST(max_read_bytes_for(options, AnswerEncoding::kSegments) == 4096U);
  BOOST_TEST(max_read_bytes_for(options, AnswerEncoding::kParts) == 8192U);
  for (const char* bad : {"morse", "parts,", "parts,parts", "parts,runs,morse"}) {
    BOOST_TEST(mentions(refuse({"--encoding", bad}), "parts,runs,segments"), bad);
  }
  BOOST_TEST(
      mentions(refuse({"--encoding", "segments", "--segment-bytes", "4095"}), "--segment-bytes"));
  BOOST_TEST(mentions(refuse({"--encoding", "segments", "--blocks", "10000"}), "--blocks"));
}

BOOST_AUTO_TEST_CASE(a_trace_has_small_blocks_and_options_of_its_own) {
  const BenchOptions options = accept({"--trace", "t.jsonl", "--abort-rate", "0.1"});
  BOOST_TEST(options.trace == "t.jsonl");
  BOOST_TEST(options.shape.block_bytes() == 4096U);
  BOOST_TEST(options.concurrency == 4U);
  BOOST_TEST(options.abort_rate == 0.1);
  BOOST_TEST(accept({"--trace", "t", "--layers", "2"}).shape.layers == 2U);
  BOOST_TEST(mentions(refuse({"--speed", "2"}), "--speed is for a --trace"));
  BOOST_TEST(mentions(refuse({"--trace", "t", "--abort-rate", "1.1"}), "--abort-rate"));
  BOOST_TEST(mentions(refuse({"--trace", "t", "--cancel-after", "1"}), "--cancel-after"));
  BOOST_TEST(mentions(refuse({"--trace", "t", "--lane-range", "1"}), "--lane-range"));
  BOOST_TEST(mentions(refuse({"--lane-range", "577"}), "576 lanes"));
  BOOST_TEST(mentions(refuse({"--trace", "t", "--encoding", "parts,runs"}), "--encoding"));
  BOOST_TEST(mentions(refuse({"--trace", "t", "--layout", "scattered"}), "--layout"));
  BOOST_TEST(mentions(refuse({"--trace", "t", "--role", "holder"}), "--role"));
  BOOST_TEST(mentions(refuse({"--concurrency", "65"}), "--concurrency"));
}

BOOST_AUTO_TEST_CASE(roles_that_contradict_the_rest_are_refused) {
  BOOST_TEST(mentions(refuse({"--role", "requester"}), "ADDR:PORT"));
  BOOST_TEST(mentions(refuse({"--role", "holder", "a:1"}), "ADDR:PORT"));
  BOOST_TEST(mentions(refuse({"--role", "holder", "--json", "-"}), "--json"));
  BOOST_TEST(mentions(refuse({"--role", "holder", "--limit-ratio", "1"}), "--limit-ratio"));
  BOOST_TEST(mentions(refuse({"a:1", "--listen", "b:1"}), "--listen"));
  BOOST_TEST(accept({"--role", "holder"}).listen == "127.0.0.1:7700");
}

BOOST_AUTO_TEST_CASE(help_and_version_end_well) {
  for (const char* flag : {"--help", "-h", "--version"}) {
    const ParsedOptions parsed = parse({flag});
    BOOST_TEST(!parsed.options.has_value());
    BOOST_TEST(parsed.exit_code == 0);
  }
  const std::string help = parse({"--help"}).text;
  for (const char* what : {"--blocks", "--rails", "--limit-ratio", "Examples:", "Exit codes:"}) {
    BOOST_TEST(mentions(help, what));
  }
  BOOST_TEST(!mentions(help, "--supervised"));
  BOOST_TEST(!mentions(help, "\n\n\n"));
  BOOST_TEST(mentions(parse({"--version"}).text, "p2p_bench "));
}

BOOST_AUTO_TEST_CASE(a_child_gets_the_same_shape_and_paths) {
  const BenchOptions parent = accept({"--preset",
                                      "seed-64k",
                                      "--layers",
                                      "3",
                                      "--ranks",
                                      "4",
                                      "--segments",
                                      "1",
                                      "--sets",
                                      "2",
                                      "--layout",
                                      "lane-major",
                                      "--seed",
                                      "77",
                                      "--rails",
                                      "tcp:10.0.0.1",
                                      "--channels-per-rail",
                                      "3",
                                      "--max-read-bytes",
                                      "1MiB",
                                      "--window-bytes",
                                      "2MiB",
                                      "--huge-pages",
                                      "--retry-on-survivors",
                                      "--log-level",
                                      "off"});
  BOOST_TEST(parent.retry_on_survivors);
  const BenchOptions child = accept(holder_arguments(parent));
  BOOST_TEST((child.role == Role::kHolder));
  BOOST_TEST((child.shape == parent.shape));
  BOOST_TEST(child.rails == parent.rails);
  BOOST_TEST(child.listen == parent.listen);
  BOOST_TEST(child.channels_per_rail == parent.channels_per_rail);
  BOOST_TEST(child.max_read_bytes == parent.max_read_bytes);
  BOOST_TEST(child.window_bytes == parent.window_bytes);
  BOOST_TEST(child.huge_pages);
  // The requester's own business.
  BOOST_TEST(!child.retry_on_survivors);
  BOOST_TEST(child.supervised);
  BOOST_TEST((child.log_level == LogLevel::kOff));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(option_values)

BOOST_AUTO_TEST_CASE(sizes) {
  BOOST_TEST(parse_bytes("4096").value() == 4096U);
  BOOST_TEST(parse_bytes("4KiB").value() == 4096U);
  BOOST_TEST(parse_bytes("4 kib").value() == 4096U);
  BOOST_TEST(parse_bytes("1.5MiB").value() == 1536 * kKiB);
  BOOST_TEST(parse_bytes("2G").value() == 2 * kGiB);
  BOOST_TEST(parse_bytes("0").value() == 0U);
  for (const char* bad : {"", "KiB", "4KB", "4 4", "-1", "1e3", "1.3", "0x10", "4KiBs", "1..5KiB",
                          "18446744073709551616", "99999999999GiB"}) {
    BOOST_TEST(!parse_bytes(bad).has_value(), bad);
  }
  BOOST_TEST(format_bytes(0) == "0 B");
  BOOST_TEST(format_bytes(4096) == "4 KiB");
  BOOST_TEST(format_bytes(2250 * kMiB) == "2250 MiB");
  BOOST_TEST(format_bytes(64 * kGiB) == "64 GiB");
  BOOST_TEST(format_bytes(37) == "37 B");
}

BOOST_AUTO_TEST_CASE(addresses) {
  for (const char* good : {"1.2.3.4:1", "host:7700", "[::1]:65535"}) {
    BOOST_TEST(is_address(good, false), good);
  }
  for (const char* bad : {"", "host", ":1", "host:", "host:x", "host:65536", "::1:7", "[::1]",
                          "[host]:1", "host:0", "a b:1"}) {
    BOOST_TEST(!is_address(bad, false), bad);
  }
  BOOST_TEST(is_address("host:0", true));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::bench
