#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "apps/p2p_bench/trace_file.h"
#include "apps/p2p_bench/trace_report.h"

namespace corail::bench {
namespace {

/// A file of the test's own, removed at its end.
class TraceFile {
 public:
  explicit TraceFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("corail_trace_" + std::to_string(::getpid()))) {
    std::ofstream(path_) << text;
  }
  ~TraceFile() { std::filesystem::remove(path_); }
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  std::string path() const { return path_.string(); }

 private:
  const std::filesystem::path path_;
};

std::string complaint(const std::string& text) {
  const TraceFile file(text);
  const auto read = read_trace(file.path());
  BOOST_REQUIRE(!read.ok());
  BOOST_TEST(read.error().detail().find(file.path()) != std::string::npos);
  return read.error().detail();
}

bool mentions(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

const std::string kGood =
    R"({"timestamp": 1.5, "input_length": 9, "hash_ids": [3, 1, 4294967295]})";

BOOST_AUTO_TEST_SUITE(trace)

BOOST_AUTO_TEST_CASE(a_line_is_a_request) {
  const TraceFile file(kGood + "\n" + R"({"timestamp": 2000, "hash_ids": []})");
  const auto read = read_trace(file.path());
  BOOST_REQUIRE(read.ok());
  BOOST_REQUIRE(read->size() == 2U);
  BOOST_TEST((read->front().at == std::chrono::microseconds(1500)));
  BOOST_TEST((read->front().blocks == std::vector<std::uint32_t>{3, 1, 4'294'967'295U}));
  BOOST_TEST((read->back().at == std::chrono::seconds(2)));
  BOOST_TEST(read->back().blocks.empty());
}

BOOST_AUTO_TEST_CASE(what_is_no_request_is_named_by_its_line) {
  for (const char* bad :
       {"", "[1]", "{}", R"({"timestamp": 1})", R"({"hash_ids": [1]})",
        R"({"timestamp": -1, "hash_ids": []})", R"({"timestamp": 1e300, "hash_ids": []})",
        R"({"timestamp": "1", "hash_ids": []})", R"({"timestamp": 1, "hash_ids": {}})",
        R"({"timestamp": 1, "hash_ids": [-1]})", R"({"timestamp": 1, "hash_ids": [1.5]})",
        R"({"timestamp": 1, "hash_ids": [4294967296]})",
        R"({"timestamp": 1, "hash_ids": [5, 6, 5]})"}) {
    BOOST_TEST(mentions(complaint(kGood + "\n" + bad + "\n" + kGood), "line 2: "), bad);
  }
  BOOST_TEST(mentions(complaint(std::string(kMaxTraceLineBytes, ' ')), "line 1: longer"));
  BOOST_TEST(mentions(complaint(""), "no requests"));
  BOOST_TEST(!read_trace("/nowhere/trace").ok());
}

BOOST_AUTO_TEST_CASE(a_read_that_failed_or_brought_wrong_bytes_fails_the_replay) {
  TraceResult result;
  result.cancelled = 3;
  result.misses = 4;
  BOOST_TEST(failed_trace_checks(result).empty());
  result.wrong_bytes = 1;
  BOOST_TEST(failed_trace_checks(result).size() == 1U);
  result.failed = 1;
  result.over_read = 1;
  BOOST_TEST(failed_trace_checks(result).size() == 3U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::bench
