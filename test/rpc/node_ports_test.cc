#include "rpc/node_ports.h"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "engine/base/units.h"

namespace corail {
namespace {

using std::chrono::microseconds;

NodeOptions on_rails(std::vector<std::string> rails) {
  NodeOptions options;
  options.rails = std::move(rails);
  return options;
}

/// What is wrong with the options after the change.
template <typename Change>
std::string refused(Change change) {
  NodeOptions options = on_rails({"tcp:127.0.0.1"});
  change(options);
  const auto checked = check_options(options);
  return checked.ok() ? "nothing" : checked.error().detail();
}

BOOST_AUTO_TEST_SUITE(node_ports)

BOOST_AUTO_TEST_CASE(what_a_node_is_told_of_its_paths_reaches_each_port) {
  NodeOptions options = on_rails({"verbs:a"});
  options.channels_per_rail = 3;
  options.path_tuning.traffic_class = 106;
  options.gid_index = std::uint8_t{5};
  options.max_region_bytes = 4 * kMiB;
  const PortOptions port = port_options_of(options);
  BOOST_TEST(port.channels_per_rail == 3U);
  BOOST_TEST((port.path_tuning == options.path_tuning));
  BOOST_TEST((port.gid_index == options.gid_index));
  BOOST_TEST(port.max_region_bytes == 4 * kMiB);
}

BOOST_AUTO_TEST_CASE(places_for_objects_that_cannot_be_are_refused_by_name) {
  const auto disks = [](NodeOptions& o) {
    o.listen = "127.0.0.1:0";
    o.objects.directories = {"/a"};
  };
  BOOST_TEST(refused(disks) == "nothing");
  BOOST_TEST(refused([&disks](NodeOptions& o) {
               disks(o);
               o.listen.clear();
             }) == "a node that holds objects must listen: its address is part of what it tells");
  BOOST_TEST(refused([&disks](NodeOptions& o) {
               disks(o);
               o.objects.memory_bytes = kMiB;
             }) == "objects are kept in memory or in directories, not in both; name one");
  BOOST_TEST(refused([&disks](NodeOptions& o) {
               disks(o);
               o.objects.disk_threads = 0;
             }) == "disk_threads must be 1 to 256");
  for (const std::uint64_t bytes : {std::uint64_t{256 * kKiB - 1}, std::uint64_t{kGiB} + 1}) {
    BOOST_TEST(refused([&disks, bytes](NodeOptions& o) {
                 disks(o);
                 o.objects.staging_buffer_bytes = bytes;
               }) == "staging_buffers must be 1 to 4096, of 262144 bytes to 1 GiB each");
  }
}

BOOST_AUTO_TEST_CASE(values_that_no_device_takes_are_refused_by_name) {
  BOOST_TEST(refused([](NodeOptions&) {}) == "nothing");
  BOOST_TEST(refused([](NodeOptions& o) { o.path_tuning.retries = 8; }) ==
             "retry-count 8 is not possible, 0 to 7 are");
  BOOST_TEST(refused([](NodeOptions& o) { o.spin = std::chrono::seconds(2); }) ==
             "spin must be 0 to 1 s");
  BOOST_TEST(refused([](NodeOptions& o) { o.max_region_bytes = 4096; }).find("max-region-bytes") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(only_a_thread_with_a_core_to_itself_and_a_device_spins) {
  NodeOptions options = on_rails({"verbs:a", "tcp:127.0.0.1"});
  options.spin = microseconds(70);
  std::vector<RailSpec> specs = {RailSpec(TcpRailSpec{"127.0.0.1"})};
  BOOST_TEST((spin_budget(options, specs, 1, 8) == Duration::zero()));
  specs.emplace_back(VerbsRailSpec());
  BOOST_TEST((spin_budget(options, specs, 2, 8) == microseconds(70)));
  BOOST_TEST((spin_budget(options, specs, 2, 2) == Duration::zero()));
}

BOOST_AUTO_TEST_CASE(specs_are_read_as_lists) {
  const auto specs = rail_specs_of(on_rails({"tcp:127.0.0.1", "tcp:127.0.0.2"}));
  BOOST_TEST_REQUIRE(specs.ok());
  BOOST_TEST(specs->size() == 2U);
  const auto unknown = rail_specs_of(on_rails({"pigeon:1"}));
  BOOST_TEST_REQUIRE(!unknown.ok());
  BOOST_TEST((unknown.error().code() == Errc::kUnknownName));
  BOOST_TEST((unknown.error().stage() == Stage::kSetup));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
