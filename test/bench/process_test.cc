#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <boost/test/unit_test.hpp>

#include "apps/p2p_bench/holder_process.h"
#include "apps/p2p_bench/node_setup.h"
#include "apps/p2p_bench/process_usage.h"
#include "apps/p2p_bench/requester.h"
#include "apps/p2p_bench/standard_streams.h"

namespace corail::bench {
namespace {

BOOST_AUTO_TEST_SUITE(process)

BOOST_AUTO_TEST_CASE(lines_of_the_child_survive_the_pipe) {
  const auto ready = decode_ready(
      encode_ready({"127.0.0.1:7700", "127.0.0.1:7701", MemoryFacts{true, false, {"a slab"}}}));
  BOOST_REQUIRE(ready.has_value());
  BOOST_TEST(ready->control == "127.0.0.1:7700");
  BOOST_TEST(ready->limit == "127.0.0.1:7701");
  BOOST_REQUIRE(ready->memory.has_value());
  BOOST_TEST(ready->memory->huge_pages);
  BOOST_TEST(ready->memory->missing.size() == 1U);
  BOOST_TEST(!decode_ready(encode_ready({"a:1", "", std::nullopt}))->memory.has_value());
  const auto usage = decode_usage(encode_usage({1.25, 1ULL << 33}));
  BOOST_REQUIRE(usage.has_value());
  BOOST_TEST(usage->cpu_s == 1.25);
  BOOST_TEST(usage->peak_rss == 1ULL << 33);
  for (const char* bad : {"", "{}", "[1]", R"({"control":1,"limit":2})", R"({"cpu_s":"1"})"}) {
    BOOST_TEST(!decode_ready(bad).has_value(), bad);
    BOOST_TEST(!decode_usage(bad).has_value(), bad);
  }
}

BOOST_AUTO_TEST_CASE(an_inherited_descriptor_does_not_close_on_exec) {
  std::array<int, 2> ends = {-1, -1};
  BOOST_REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  const Descriptor input(ends[0]);
  const Descriptor output(ends[1]);
  BOOST_TEST(inherit_as(input.get(), input.get()));
  BOOST_TEST((::fcntl(input.get(), F_GETFD) & FD_CLOEXEC) == 0);
  BOOST_TEST(inherit_as(input.get(), output.get()));
  BOOST_TEST((::fcntl(output.get(), F_GETFD) & FD_CLOEXEC) == 0);
  BOOST_TEST(!inherit_as(-1, -1));
  BOOST_TEST(!inherit_as(-1, output.get()));
}

BOOST_AUTO_TEST_CASE(missing_standard_streams_are_opened) {
  for (const unsigned missing : {1U, 2U, 4U, 3U, 6U, 7U}) {
    const pid_t child = ::fork();
    BOOST_REQUIRE(child >= 0);
    if (child == 0) {
      for (int stream = 0; stream < 3; ++stream) {
        if ((missing >> stream & 1U) != 0) ::close(stream);
      }
      open_standard_streams();
      int open = 0;
      for (int stream = 0; stream < 3; ++stream) open += ::fcntl(stream, F_GETFD) >= 0 ? 1 : 0;
      ::_exit(open);
    }
    int status = 0;
    BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
    BOOST_TEST(WIFEXITED(status));
    BOOST_TEST(WEXITSTATUS(status) == 3);
  }
}

BOOST_AUTO_TEST_CASE(kilobytes_are_found_in_proc_files) {
  const char* text = "VmPeak:\t    9 kB\nVmHWM:\t   1234 kB\nVmRSS:\t  77 kB\n";
  BOOST_TEST(kilobytes_field(text, "VmHWM:").value() == 1234U * 1024);
  BOOST_TEST(!kilobytes_field(text, "VmSwap:").has_value());
  BOOST_TEST(!kilobytes_field("VmHWM:\n", "VmHWM:").has_value());
}

BOOST_AUTO_TEST_CASE(this_process_uses_something) {
  BOOST_TEST(process_peak_rss() > 1'000'000U);
  BOOST_TEST(process_cpu_seconds() > 0.0);
  const Machine machine = this_machine();
  BOOST_TEST(machine.cores >= 1U);
  BOOST_TEST(machine.numa_nodes >= 1U);
}

BOOST_AUTO_TEST_CASE(the_limit_endpoint_is_beside_the_control_port) {
  BOOST_TEST(limit_beside("10.0.0.2:7700") == "10.0.0.2:7701");
  BOOST_TEST(limit_beside("[::1]:7700") == "[::1]:7701");
  BOOST_TEST(limit_beside("10.0.0.2:65535") == "");
}

BOOST_AUTO_TEST_CASE(rails_have_hosts) {
  const std::vector<std::string> expected = {"10.0.0.1", "[::1]", "10.9.9.9"};
  BOOST_TEST(rail_hosts({"tcp:10.0.0.1", "tcp:[::1]", "verbs:mlx5_0"}, "10.9.9.9") == expected);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::bench
