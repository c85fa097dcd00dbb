#include "engine/verbs/doctor.h"

#include <boost/test/unit_test.hpp>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "test/verbs/scripted_verbs.h"

namespace corail {
namespace {

using test::ScriptedVerbs;

/// A root folder of a test's own with files as the kernel has them; removed at the end.
class FakeRoot {
 public:
  FakeRoot() {
    std::string pattern = (std::filesystem::temp_directory_path() / "doctor-XXXXXX").string();
    BOOST_TEST_REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~FakeRoot() { std::filesystem::remove_all(path_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  void write(const std::string& file, const std::string& text) const {
    const std::filesystem::path path = path_ + "/" + file;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

void write_device(const FakeRoot& root) {
  const std::string device = "sys/class/infiniband/a/";
  root.write(device + "device/numa_node", "1");
  root.write(device + "device/current_link_speed", "8.0 GT/s PCIe");
  root.write(device + "device/current_link_width", "8");
  root.write(device + "device/max_link_speed", "16.0 GT/s PCIe");
  root.write(device + "device/max_link_width", "16");
  root.write(device + "ports/1/rate", "100 Gb/sec (4X EDR)");
  root.write(device + "ports/1/gid_attrs/ndevs/0", "eth7");
}

BOOST_AUTO_TEST_SUITE(doctor)

BOOST_AUTO_TEST_CASE(a_device_is_what_libibverbs_and_the_kernel_say) {
  ScriptedVerbs machine;
  auto& fake = machine.add_device("a", 9);
  fake.attributes.max_qp_rd_atom = 5;
  fake.ports[0].attributes.state = IBV_PORT_INIT;
  fake.ports[0].attributes.active_mtu = IBV_MTU_1024;
  const FakeRoot root;
  write_device(root);
  const MachineFacts facts = examine_machine(machine.api(), root.path());
  BOOST_TEST(facts.hidden.empty());
  BOOST_TEST_REQUIRE(facts.devices.size() == 1U);
  const DeviceReport& device = facts.devices[0];
  BOOST_TEST(device.name == "a");
  BOOST_TEST(device.trouble == "");
  BOOST_TEST(device.numa_node == 1);
  BOOST_TEST((device.pcie == PcieLink{8, 8}));
  BOOST_TEST((device.pcie_most == PcieLink{16, 16}));
  BOOST_TEST(device.limits.max_reads_answered == 5U);
  BOOST_TEST_REQUIRE(device.ports.size() == 1U);
  const PortReport& port = device.ports[0];
  BOOST_TEST(int{port.number} == 1);
  BOOST_TEST(!port.facts.active);
  BOOST_TEST((port.facts.state == PortState::kInitialized));
  BOOST_TEST(port.facts.mtu_bytes == 1024U);
  BOOST_TEST(port.facts.max_mtu_bytes == 4096U);
  BOOST_TEST(port.gids.size() == 2U);
  BOOST_TEST(port.gigabits_per_second == 100);
  BOOST_TEST(port.interface == "eth7");
  BOOST_TEST(machine.alive() == 0U);
}

BOOST_AUTO_TEST_CASE(a_software_device_has_no_link) {
  ScriptedVerbs machine;
  machine.add_device("a", 9);
  const FakeRoot root;
  const MachineFacts facts = examine_machine(machine.api(), root.path());
  BOOST_TEST_REQUIRE(facts.devices.size() == 1U);
  BOOST_TEST(facts.devices[0].numa_node == kUnknownNode);
  BOOST_TEST(!facts.devices[0].pcie.has_value());
  BOOST_TEST(facts.devices[0].ports[0].gigabits_per_second == 0);
  BOOST_TEST(facts.devices[0].ports[0].interface == "");
}

BOOST_AUTO_TEST_CASE(a_device_that_does_not_answer_is_part_of_the_report) {
  ScriptedVerbs machine;
  machine.add_device("a", 9);
  const FakeRoot root;
  for (const char* call : {"open_device", "query_device", "query_port", "query_gid_table"}) {
    machine.errors = {{call, EACCES}};
    const MachineFacts facts = examine_machine(machine.api(), root.path());
    BOOST_TEST_REQUIRE(facts.devices.size() == 1U, call);
    BOOST_TEST(facts.devices[0].trouble.find(call) != std::string::npos, call);
    BOOST_TEST(facts.devices[0].ports.empty(), call);
  }
  BOOST_TEST(machine.alive() == 0U);
}

BOOST_AUTO_TEST_CASE(devices_that_only_the_kernel_knows_are_named) {
  ScriptedVerbs machine;
  machine.add_device("b", 9);
  const FakeRoot root;
  write_device(root);
  const MachineFacts facts = examine_machine(machine.api(), root.path());
  BOOST_TEST((facts.hidden == std::vector<std::string>{"a"}));
}

BOOST_AUTO_TEST_CASE(memory_is_read_per_node) {
  ScriptedVerbs machine;
  const FakeRoot root;
  root.write("proc/meminfo", "MemFree:  7 kB\nMemTotal:       2048 kB\nHugePages_Total: 3");
  root.write("proc/self/status", "Name:\tx\nCapEff:\t0000000000004000");
  root.write("sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages", "5");
  root.write("sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages", "3");
  root.write("sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages", "0");
  root.write("sys/devices/system/node/nodelist", "0-1");
  const MemoryReport memory = examine_machine(machine.api(), root.path()).memory;
  BOOST_TEST(memory.machine_bytes == 2048U * 1024);
  BOOST_TEST(memory.exempt);
  BOOST_TEST_REQUIRE(memory.huge_pages.size() == 2U);
  BOOST_TEST(memory.huge_pages[0].numa_node == 0);
  BOOST_TEST(memory.huge_pages[0].page_bytes == 2048U * 1024);
  BOOST_TEST(memory.huge_pages[0].reserved == 5U);
  BOOST_TEST(memory.huge_pages[0].free == 3U);
  BOOST_TEST(memory.huge_pages[1].numa_node == 1);
  BOOST_TEST(memory.huge_pages[1].page_bytes == 1024U * 1024 * 1024);
  BOOST_TEST(memory.huge_pages[1].reserved == 0U);
  root.write("proc/self/status", "CapEff:\t0000000000003fff");
  BOOST_TEST(!examine_machine(machine.api(), root.path()).memory.exempt);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(pcie_link)

BOOST_AUTO_TEST_CASE(a_link_is_read_from_the_kernels_words) {
  BOOST_TEST((parse_pcie_link("16.0 GT/s PCIe", "16") == PcieLink{16, 16}));
  BOOST_TEST((parse_pcie_link("2.5 GT/s", "1") == PcieLink{2.5, 1}));
  for (const auto& [speed, width] :
       {std::pair("Unknown", "16"), std::pair("16.0 GT/s PCIe", "0"), std::pair("", ""),
        std::pair("16.0 GT/s PCIe", "63"), std::pair("0 GT/s", "4")}) {
    BOOST_TEST(!parse_pcie_link(speed, width).has_value(), speed << " x " << width);
  }
  BOOST_TEST(to_string(PcieLink{16, 8}) == "16 GT/s x8");
  BOOST_TEST(to_string(PcieLink{2.5, 4}) == "2.5 GT/s x4");
}

BOOST_AUTO_TEST_CASE(it_carries_its_bits_less_their_coding) {
  BOOST_TEST(gigabytes_per_second({5, 8}) == 4.0, boost::test_tools::tolerance(0.001));
  BOOST_TEST(gigabytes_per_second({8, 16}) == 15.754, boost::test_tools::tolerance(0.001));
  BOOST_TEST(gigabytes_per_second({32, 16}) == 63.015, boost::test_tools::tolerance(0.001));
  BOOST_TEST(gigabytes_per_second({64, 16}) == 121.0, boost::test_tools::tolerance(0.001));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
