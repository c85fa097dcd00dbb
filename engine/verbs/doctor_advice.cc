// What the doctor says of what it found.
#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/base/units.h"
#include "engine/verbs/doctor.h"
#include "engine/verbs/path_choice.h"

namespace corail {
namespace {

/// Fewer READs under way on a queue pair than this leave a link idle between them.
constexpr std::uint32_t kFewReads = 4;
/// Locked memory is little where it is less than this part of the machine's.
constexpr std::uint64_t kLockedPart = 2;

using Sentences = std::vector<std::string>;

std::string interface_of(const PortReport& port) {
  return port.interface.empty() ? "its network interface" : port.interface;
}

void advise_on_state(const std::string& name, const PortReport& port, Sentences& told) {
  if (port.facts.link == LinkLayer::kInfiniBand && port.facts.state != PortState::kDown) {
    told.push_back(fmt::format(
        "{} is not active yet: start a subnet manager (opensm), which brings it up", name));
  } else if (port.facts.link == LinkLayer::kInfiniBand) {
    told.push_back(fmt::format("{} is down: check its cable and the switch", name));
  } else {
    told.push_back(
        fmt::format("{} is down: check its cable, and bring {} up (ip link set DEVICE up)", name,
                    interface_of(port)));
  }
}

void advise_on_gids(const std::string& name, const PortReport& port, Sentences& told) {
  if (port.facts.link == LinkLayer::kInfiniBand) return;
  const auto second = [](const GidEntry& gid) { return gid.type == GidType::kRoceV2; };
  const auto ipv4 = [&second](const GidEntry& gid) { return second(gid) && is_ipv4(gid.gid); };
  if (port.gids.empty()) {
    told.push_back(fmt::format("{} has no GID: give {} an IP address", name, interface_of(port)));
  } else if (std::none_of(port.gids.begin(), port.gids.end(), second)) {
    told.push_back(fmt::format(
        "{} has GIDs of RoCE v1 only, which routers drop and no rail takes unasked: give {} an IP "
        "address, and switch RoCE v2 on in the device",
        name, interface_of(port)));
  } else if (std::none_of(port.gids.begin(), port.gids.end(), ipv4)) {
    told.push_back(fmt::format(
        "{} has no GID of RoCE v2 with an IPv4 address, so rails take an IPv6 one: give {} an IPv4 "
        "address where the peers have one",
        name, interface_of(port)));
  }
}

void advise_on_mtu(const std::string& name, const PortReport& port, Sentences& told) {
  const PortFacts& facts = port.facts;
  if (facts.mtu_bytes >= facts.max_mtu_bytes) return;
  const std::string found = fmt::format("{}'s packets carry {} bytes of at most {}", name,
                                        facts.mtu_bytes, facts.max_mtu_bytes);
  if (facts.link == LinkLayer::kInfiniBand) {
    told.push_back(fmt::format("{}: raise the subnet's MTU in its manager", found));
  } else {
    told.push_back(fmt::format(
        "{}: raise the MTU of {} to {} or more (9000 is usual), on both hosts and the switches",
        found, interface_of(port), facts.max_mtu_bytes + 104));
  }
}

void advise_on_pcie(const DeviceReport& device, Sentences& told) {
  if (!device.pcie) return;
  double ports = 0;
  for (const PortReport& port : device.ports) {
    if (port.facts.active) ports += port.gigabits_per_second / 8;
  }
  const double link = gigabytes_per_second(*device.pcie);
  if (link >= ports) return;
  const bool could = device.pcie_most && gigabytes_per_second(*device.pcie_most) > link;
  told.push_back(fmt::format(
      "{}'s PCIe link ({}) carries {:.1f} GB/s, its active ports {:.1f}: {}", device.name,
      to_string(*device.pcie), link, ports,
      could ? fmt::format("the device could do {}, so reseat it or move it to a wider slot",
                          to_string(*device.pcie_most))
            : "use one port, or spread the load over another device"));
}

void advise_on_device(const DeviceReport& device, Sentences& told) {
  if (!device.trouble.empty()) {
    told.push_back(fmt::format("{} cannot be used: {}", device.name, device.trouble));
    return;
  }
  for (const PortReport& port : device.ports) {
    const std::string name = fmt::format("{}:{}", device.name, port.number);
    if (!port.facts.active) {
      advise_on_state(name, port, told);
      continue;
    }
    advise_on_gids(name, port, told);
    advise_on_mtu(name, port, told);
  }
  advise_on_pcie(device, told);
  const std::uint32_t reads =
      std::min(device.limits.max_reads_sent, device.limits.max_reads_answered);
  if (reads < kFewReads) {
    told.push_back(fmt::format(
        "{} has at most {} READs under way on a queue pair: raise --channels-per-rail, and the "
        "limit of READs in the device's firmware where it has one",
        device.name, reads));
  }
}

std::string size_text(std::uint64_t bytes) {
  if (bytes >= kGiB) {
    return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / static_cast<double>(kGiB));
  }
  return fmt::format("{:g} MiB", static_cast<double>(bytes) / static_cast<double>(kMiB));
}

void advise_on_memory(const MachineFacts& machine, Sentences& told) {
  const MemoryReport& memory = machine.memory;
  if (memory.locked_limit && !memory.exempt &&
      *memory.locked_limit < memory.machine_bytes / kLockedPart) {
    told.push_back(fmt::format(
        "this process may lock {} of {}, and what rails use is locked: set no limit (ulimit -l "
        "unlimited; LimitMEMLOCK=infinity in a unit of systemd; --ulimit memlock=-1 for a "
        "container)",
        size_text(*memory.locked_limit), size_text(memory.machine_bytes)));
  }
  const auto reserved = [&memory](std::int32_t node) {
    return std::any_of(memory.huge_pages.begin(), memory.huge_pages.end(), [node](const auto& p) {
      return p.reserved > 0 && (node == kUnknownNode || p.numa_node == node);
    });
  };
  if (!reserved(kUnknownNode)) {
    told.push_back(
        "no huge pages are reserved, and a NIC reads large memory of plain pages up to a third "
        "slower: reserve some (sysctl vm.nr_hugepages=N) and ask for them (--huge-pages)");
    return;
  }
  for (const DeviceReport& device : machine.devices) {
    if (device.numa_node == kUnknownNode || reserved(device.numa_node)) continue;
    told.push_back(fmt::format(
        "NUMA node {}, where {} is, has no huge pages, other nodes have: reserve some there "
        "(/sys/devices/system/node/node{}/hugepages)",
        device.numa_node, device.name, device.numa_node));
  }
}

}  // namespace

std::vector<std::string> advise(const MachineFacts& machine) {
  Sentences told;
  if (!machine.hidden.empty()) {
    told.push_back(fmt::format(
        "the kernel has RDMA devices that this process cannot see ({}): load ib_uverbs, install "
        "their provider (ibverbs-providers), and give a container /dev/infiniband",
        fmt::join(machine.hidden, ", ")));
  } else if (machine.devices.empty()) {
    told.push_back(
        "there is no RDMA device: load the NIC's driver (mlx5_ib and the like); or make a software "
        "one (modprobe rdma_rxe; rdma link add rxe0 type rxe netdev INTERFACE); or use tcp rails");
  }
  for (const DeviceReport& device : machine.devices) advise_on_device(device, told);
  if (!machine.devices.empty()) advise_on_memory(machine, told);
  return told;
}

}  // namespace corail
