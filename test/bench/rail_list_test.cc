#include "apps/p2p_bench/rail_list.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "engine/base/units.h"

namespace corail::bench {
namespace {

MachineRails sample_rails() {
  PortReport port;
  port.number = 2;
  port.facts.active = true;
  port.facts.state = PortState::kActive;
  port.facts.mtu_bytes = 1024;
  port.facts.max_mtu_bytes = 4096;
  GidEntry gid;
  gid.index = 3;
  gid.type = GidType::kRoceV2;
  gid.gid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 7};
  port.gids = {gid};
  port.gigabits_per_second = 100;
  DeviceReport device;
  device.name = "mlx5_4";
  device.numa_node = 1;
  device.pcie = PcieLink{16, 8};
  device.limits.max_region_bytes = 2 * kGiB;
  device.ports = {port};
  DeviceReport dead;
  dead.name = "mlx5_5";
  dead.trouble = "open_device: no";
  NetInterface interface;
  interface.name = "eth7";
  interface.up = true;
  interface.megabits_per_second = 2500;
  interface.mtu_bytes = 1500;
  interface.addresses = {"10.0.0.7", "fd00::7"};
  MachineRails rails;
  rails.rdma.devices = {device, dead};
  rails.rdma.memory.locked_limit = 8 * kMiB;
  rails.rdma.memory.huge_pages = {HugePages{1, 2 * kMiB, 12, 11}};
  rails.interfaces = {interface};
  rails.problems = {"do this"};
  return rails;
}

BOOST_AUTO_TEST_SUITE(rail_list)

BOOST_AUTO_TEST_CASE(the_table_has_a_line_for_each_rail) {
  const std::string text = rail_table(sample_rails());
  for (const char* what :
       {"verbs:mlx5_4:2", "active", "1024 of 4096", "10.0.0.7 (index 3)", "16 GT/s x8", "15.8",
        "2 GiB a registration", "tcp:10.0.0.7", "tcp:fd00::7", "eth7", "2.5", "at most 8 MiB",
        "huge pages of 2 MiB on NUMA node 1: 12 reserved, 11 free", "what to do\n- do this\n"}) {
    BOOST_TEST(text.find(what) != std::string::npos, what);
  }
}

BOOST_AUTO_TEST_CASE(a_machine_with_nothing_is_told_so) {
  MachineRails rails;
  const std::string text = rail_table(rails);
  BOOST_TEST(text.find("RDMA ports: none") != std::string::npos);
  BOOST_TEST(text.find("locked memory: no limit") != std::string::npos);
  BOOST_TEST(text.find("no problems") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_report_says_null_of_what_nobody_knows) {
  const auto report = nlohmann::json(rail_json(sample_rails()));
  BOOST_TEST(report["schema"] == kRailListSchema);
  const auto& device = report["devices"][0];
  BOOST_TEST(device["numa_node"] == 1);
  BOOST_TEST(device["trouble"].is_null());
  BOOST_TEST(device["pcie"]["lanes"] == 8);
  BOOST_TEST(device["pcie_most"].is_null());
  BOOST_TEST(device["limits"]["region_bytes"] == 2 * kGiB);
  const auto& port = device["ports"][0];
  BOOST_TEST(port["rail"] == "verbs:mlx5_4:2");
  BOOST_TEST(port["speed_gbit_s"] == 100.0);
  BOOST_TEST(port["interface"].is_null());
  BOOST_TEST(report["devices"][1]["trouble"] == "open_device: no");
  BOOST_TEST(report["devices"][1]["numa_node"].is_null());
  const auto& interface = report["interfaces"][0];
  BOOST_TEST((interface["rails"] == nlohmann::json::array({"tcp:10.0.0.7", "tcp:fd00::7"})));
  BOOST_TEST(interface["speed_gbit_s"] == 2.5);
  BOOST_TEST(interface["numa_node"].is_null());
  BOOST_TEST(report["memory"]["locked_limit_bytes"] == 8 * kMiB);
  BOOST_TEST(report["memory"]["huge_pages"][0]["free"] == 11);
  BOOST_TEST((report["problems"] == nlohmann::json::array({"do this"})));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::bench
