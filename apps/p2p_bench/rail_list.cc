#include "apps/p2p_bench/rail_list.h"

#include <fmt/core.h>

#include <cstdio>
#include <iterator>

#include "apps/p2p_bench/node_setup.h"
#include "apps/p2p_bench/option_values.h"
#include "engine/base/units.h"

namespace corail::bench {
namespace {

using Out = std::back_insert_iterator<std::string>;

/// A device that names a larger one has no limit of its own.
constexpr std::uint64_t kBeyondMemory = std::uint64_t{1} << 56;

std::string spec_of(const DeviceReport& device, const PortReport& port) {
  return fmt::format("verbs:{}:{}", device.name, port.number);
}

std::string node_text(std::int32_t node) { return node < 0 ? "-" : std::to_string(node); }

std::string speed_text(double gigabits) {
  return gigabits > 0 ? fmt::format("{:g}", gigabits) : "-";
}

void write_port(Out out, const DeviceReport& device, const PortReport& port) {
  const PortFacts& facts = port.facts;
  fmt::format_to(out, "{:<20}{:<13}{:<12}{:>12}{:>14}  {:<28}{:>9}{:>14}{:>15}\n",
                 spec_of(device, port), name_of(facts.state), name_of(facts.link),
                 speed_text(port.gigabits_per_second),
                 fmt::format("{} of {}", facts.mtu_bytes, facts.max_mtu_bytes), chosen_gid(port),
                 node_text(device.numa_node), device.pcie ? to_string(*device.pcie) : "-",
                 device.pcie ? fmt::format("{:.1f}", gigabytes_per_second(*device.pcie)) : "-");
}

void write_limits(Out out, const DeviceReport& device) {
  if (!device.trouble.empty()) return;
  const DeviceLimits& limits = device.limits;
  fmt::format_to(
      out,
      "{}: {} a registration; of a queue pair {} requests of {} pieces each, {} READs "
      "sent and {} answered at a time; {} completions\n",
      device.name,
      limits.max_region_bytes >= kBeyondMemory ? "any size" : format_bytes(limits.max_region_bytes),
      limits.max_queue_requests, limits.max_segments, limits.max_reads_sent,
      limits.max_reads_answered, limits.max_completions);
}

void write_rdma(Out out, const MachineFacts& machine) {
  if (machine.devices.empty()) {
    fmt::format_to(out, "RDMA ports: none\n");
    return;
  }
  fmt::format_to(out, "{:<20}{:<13}{:<12}{:>12}{:>14}  {:<28}{:>9}{:>14}{:>15}\n", "RDMA port",
                 "state", "link", "speed [Gb/s]", "MTU [bytes]", "GID", "NUMA node", "PCIe",
                 "carries [GB/s]");
  for (const DeviceReport& device : machine.devices) {
    for (const PortReport& port : device.ports) write_port(out, device, port);
  }
  fmt::format_to(out, "\nlimits\n");
  for (const DeviceReport& device : machine.devices) write_limits(out, device);
}

void write_interfaces(Out out, const std::vector<NetInterface>& interfaces) {
  fmt::format_to(out, "\n{:<33}{:<12}{:<12}{:>12}{:>14}{:>11}\n", "TCP address", "interface",
                 "state", "speed [Gb/s]", "MTU [bytes]", "NUMA node");
  for (const NetInterface& interface : interfaces) {
    for (const std::string& address : interface.addresses) {
      fmt::format_to(out, "{:<33}{:<12}{:<12}{:>12}{:>14}{:>11}\n", "tcp:" + address,
                     interface.name, interface.up ? "up" : "down",
                     speed_text(interface.megabits_per_second / 1000.0), interface.mtu_bytes,
                     node_text(interface.numa_node));
    }
  }
}

void write_memory(Out out, const MemoryReport& memory) {
  fmt::format_to(out, "\nlocked memory: {}{}\n",
                 memory.locked_limit ? "at most " + format_bytes(*memory.locked_limit) : "no limit",
                 memory.locked_limit && memory.exempt ? ", but for this process" : "");
  for (const HugePages& pool : memory.huge_pages) {
    fmt::format_to(out, "huge pages of {} on NUMA node {}: {} reserved, {} free\n",
                   format_bytes(pool.page_bytes), pool.numa_node, pool.reserved, pool.free);
  }
}

}  // namespace

std::string rail_table(const MachineRails& rails) {
  std::string text;
  const Out out(text);
  write_rdma(out, rails.rdma);
  write_interfaces(out, rails.interfaces);
  write_memory(out, rails.rdma.memory);
  fmt::format_to(out, "\n{}\n", rails.problems.empty() ? "no problems" : "what to do");
  for (const std::string& problem : rails.problems) fmt::format_to(out, "- {}\n", problem);
  return text;
}

int list_rails(const BenchOptions& options, ReportFile& file) {
  const MachineRails rails = examine_rails("");
  std::FILE* to = options.json == "-" ? stderr : stdout;
  std::fputs(rail_table(rails).c_str(), to);
  if (!file.wanted()) return kExitFine;
  const auto written = file.write(rail_json(rails).dump(2) + "\n");
  if (written.ok()) return kExitFine;
  complain(written.error().detail());
  return kExitUsage;
}

}  // namespace corail::bench
