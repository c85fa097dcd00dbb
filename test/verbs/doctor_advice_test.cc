#include <boost/test/unit_test.hpp>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/units.h"
#include "engine/verbs/doctor.h"

namespace corail {
namespace {

GidEntry gid_of(std::uint32_t index, GidType type, bool ipv4) {
  GidEntry entry;
  entry.index = index;
  entry.type = type;
  if (ipv4) entry.gid = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 10, 0, 0, 1};
  return entry;
}

/// A machine that nothing is wrong with: one port of 100 Gb/s on a link that carries it.
MachineFacts healthy() {
  PortReport port;
  port.facts.active = true;
  port.facts.state = PortState::kActive;
  port.facts.mtu_bytes = port.facts.max_mtu_bytes = 4096;
  port.gids = {gid_of(0, GidType::kRoceV1, false), gid_of(1, GidType::kRoceV2, true)};
  port.gigabits_per_second = 100;
  port.interface = "eth7";
  DeviceReport device;
  device.name = "mlx5_0";
  device.numa_node = 1;
  device.pcie = PcieLink{8, 16};
  device.limits.max_reads_sent = device.limits.max_reads_answered = 16;
  device.ports = {port};
  MachineFacts machine;
  machine.devices = {device};
  machine.memory.machine_bytes = 64 * kGiB;
  machine.memory.huge_pages = {HugePages{0, 2 * kMiB, 0, 0}, HugePages{1, 2 * kMiB, 512, 512}};
  return machine;
}

using Change = std::function<void(MachineFacts&)>;

/// What is told of the healthy machine after the change: one sentence, with these words.
void tells(const Change& change, const std::vector<std::string>& words) {
  MachineFacts machine = healthy();
  change(machine);
  const auto told = advise(machine);
  BOOST_TEST_REQUIRE(told.size() == 1U, "expected one sentence with '" << words[0] << "'");
  for (const std::string& word : words) {
    BOOST_TEST(told[0].find(word) != std::string::npos, told[0] << " has no '" << word << "'");
  }
}

void tells_nothing(const Change& change) {
  MachineFacts machine = healthy();
  change(machine);
  for (const std::string& sentence : advise(machine)) BOOST_ERROR(sentence);
}

PortReport& port_in(MachineFacts& machine) { return machine.devices[0].ports[0]; }

BOOST_AUTO_TEST_SUITE(doctor_advice)

BOOST_AUTO_TEST_CASE(a_healthy_machine_needs_nothing) {
  tells_nothing([](MachineFacts&) {});
}

BOOST_AUTO_TEST_CASE(no_device_is_told_with_a_way_out_and_nothing_else) {
  tells([](MachineFacts& m) { m = MachineFacts(); },
        {"no RDMA device", "modprobe rdma_rxe", "rdma link add rxe0 type rxe", "tcp rails"});
  tells(
      [](MachineFacts& m) {
        m = MachineFacts();
        m.hidden = {"mlx5_0", "mlx5_1"};
      },
      {"cannot see (mlx5_0, mlx5_1)", "ib_uverbs", "/dev/infiniband"});
  tells([](MachineFacts& m) { m.hidden = {"mlx5_1"}; }, {"cannot see (mlx5_1)"});
}

BOOST_AUTO_TEST_CASE(a_device_that_does_not_answer_says_why) {
  tells([](MachineFacts& m) { m.devices[0].trouble = "open_device: no"; },
        {"mlx5_0 cannot be used: open_device: no"});
}

BOOST_AUTO_TEST_CASE(of_a_port_that_is_down_nothing_else_is_told) {
  const auto down = [](MachineFacts& m) {
    port_in(m).facts.active = false;
    port_in(m).facts.state = PortState::kDown;
    port_in(m).facts.mtu_bytes = 1024;
    port_in(m).gids.clear();
  };
  tells(down, {"mlx5_0:1 is down", "bring eth7 up"});
  tells(
      [&down](MachineFacts& m) {
        down(m);
        port_in(m).facts.link = LinkLayer::kInfiniBand;
      },
      {"mlx5_0:1 is down", "cable"});
  tells(
      [&down](MachineFacts& m) {
        down(m);
        port_in(m).facts.link = LinkLayer::kInfiniBand;
        port_in(m).facts.state = PortState::kInitialized;
      },
      {"not active yet", "opensm"});
}

BOOST_AUTO_TEST_CASE(gids_that_no_rail_takes_unasked) {
  tells([](MachineFacts& m) { port_in(m).gids.clear(); }, {"has no GID: give eth7 an IP"});
  tells([](MachineFacts& m) { port_in(m).gids.pop_back(); }, {"RoCE v1 only", "eth7"});
  tells([](MachineFacts& m) { port_in(m).gids[1] = gid_of(1, GidType::kRoceV2, false); },
        {"no GID of RoCE v2 with an IPv4 address", "give eth7 an IPv4"});
  tells_nothing([](MachineFacts& m) {
    port_in(m).facts.link = LinkLayer::kInfiniBand;
    port_in(m).gids = {gid_of(0, GidType::kInfiniBand, false)};
  });
}

BOOST_AUTO_TEST_CASE(packets_that_could_be_longer) {
  tells([](MachineFacts& m) { port_in(m).facts.mtu_bytes = 1024; },
        {"1024 bytes of at most 4096", "MTU of eth7 to 4200"});
  tells(
      [](MachineFacts& m) {
        port_in(m).facts.mtu_bytes = 2048;
        port_in(m).facts.link = LinkLayer::kInfiniBand;
      },
      {"2048 bytes of at most 4096", "subnet"});
}

BOOST_AUTO_TEST_CASE(a_link_that_carries_less_than_the_ports) {
  tells(
      [](MachineFacts& m) {
        m.devices[0].pcie = PcieLink{8, 8};
      },
      {"(8 GT/s x8) carries 7.9 GB/s", "12.5", "spread the load"});
  tells(
      [](MachineFacts& m) {
        m.devices[0].pcie = PcieLink{8, 8};
        m.devices[0].pcie_most = PcieLink{16, 16};
      },
      {"could do 16 GT/s x16", "reseat"});
  const auto second = [](MachineFacts& m) { m.devices[0].ports.push_back(port_in(m)); };
  tells(second, {"carries 15.8 GB/s", "25.0"});
  tells_nothing([](MachineFacts& m) { m.devices[0].pcie.reset(); });
  tells_nothing([](MachineFacts& m) {
    port_in(m).gigabits_per_second = 0;
    m.devices[0].pcie = PcieLink{2.5, 1};
  });
}

BOOST_AUTO_TEST_CASE(few_reads_under_way) {
  tells([](MachineFacts& m) { m.devices[0].limits.max_reads_answered = 1; },
        {"at most 1 READs", "--channels-per-rail"});
}

BOOST_AUTO_TEST_CASE(a_limit_of_locked_memory_counts_where_it_binds) {
  tells([](MachineFacts& m) { m.memory.locked_limit = 8 * kMiB; },
        {"lock 8 MiB of 64.0 GiB", "ulimit -l unlimited", "LimitMEMLOCK"});
  tells_nothing([](MachineFacts& m) {
    m.memory.locked_limit = 8 * kMiB;
    m.memory.exempt = true;
  });
  tells_nothing([](MachineFacts& m) { m.memory.locked_limit = 32 * kGiB; });
}

BOOST_AUTO_TEST_CASE(huge_pages_have_to_be_where_the_device_is) {
  tells([](MachineFacts& m) { m.memory.huge_pages.clear(); },
        {"no huge pages are reserved", "vm.nr_hugepages", "--huge-pages"});
  tells([](MachineFacts& m) { m.memory.huge_pages[1].reserved = 0; }, {"no huge pages"});
  tells([](MachineFacts& m) { m.devices[0].numa_node = 0; },
        {"NUMA node 0, where mlx5_0 is", "node0/hugepages"});
  tells_nothing([](MachineFacts& m) { m.devices[0].numa_node = kUnknownNode; });
}

BOOST_AUTO_TEST_CASE(each_problem_has_its_own_sentence) {
  MachineFacts machine = healthy();
  port_in(machine).facts.mtu_bytes = 1024;
  port_in(machine).gids.pop_back();
  machine.memory.huge_pages.clear();
  machine.memory.locked_limit = kMiB;
  BOOST_TEST(advise(machine).size() == 4U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail
