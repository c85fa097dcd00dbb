#include <optional>
#include <string>

#include "apps/p2p_bench/rail_list.h"

namespace corail::bench {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson known(std::int32_t node) { return node < 0 ? OrderedJson(nullptr) : OrderedJson(node); }
OrderedJson known(const std::string& text) {
  return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
}
OrderedJson known(double rate) { return rate > 0 ? OrderedJson(rate) : OrderedJson(nullptr); }

OrderedJson link_of(const std::optional<PcieLink>& link) {
  if (!link) return nullptr;
  return {{"gigatransfers_s", link->gigatransfers},
          {"lanes", link->lanes},
          {"carries_gb_s", gigabytes_per_second(*link)}};
}

OrderedJson port_of(const DeviceReport& device, const PortReport& port) {
  return {{"rail", "verbs:" + device.name + ":" + std::to_string(port.number)},
          {"state", name_of(port.facts.state)},
          {"link", name_of(port.facts.link)},
          {"speed_gbit_s", known(port.gigabits_per_second)},
          {"mtu_bytes", port.facts.mtu_bytes},
          {"max_mtu_bytes", port.facts.max_mtu_bytes},
          {"max_message_bytes", port.facts.max_message_bytes},
          {"gids", port.gids.size()},
          {"chosen_gid", chosen_gid(port)},
          {"interface", known(port.interface)}};
}

OrderedJson device_of(const DeviceReport& device) {
  OrderedJson ports = OrderedJson::array();
  for (const PortReport& port : device.ports) ports.push_back(port_of(device, port));
  const DeviceLimits& limits = device.limits;
  return {{"name", device.name},
          {"trouble", known(device.trouble)},
          {"numa_node", known(device.numa_node)},
          {"pcie", link_of(device.pcie)},
          {"pcie_most", link_of(device.pcie_most)},
          {"limits",
           {{"region_bytes", limits.max_region_bytes},
            {"queue_requests", limits.max_queue_requests},
            {"completions", limits.max_completions},
            {"request_segments", limits.max_segments},
            {"reads_sent", limits.max_reads_sent},
            {"reads_answered", limits.max_reads_answered}}},
          {"ports", ports}};
}

OrderedJson interface_of(const NetInterface& interface) {
  OrderedJson rails = OrderedJson::array();
  for (const std::string& address : interface.addresses) rails.push_back("tcp:" + address);
  return {{"name", interface.name},
          {"state", interface.up ? "up" : "down"},
          {"speed_gbit_s", known(interface.megabits_per_second / 1000.0)},
          {"mtu_bytes", interface.mtu_bytes},
          {"numa_node", known(interface.numa_node)},
          {"rails", rails}};
}

OrderedJson memory_of(const MemoryReport& memory) {
  OrderedJson pools = OrderedJson::array();
  for (const HugePages& pool : memory.huge_pages) {
    pools.push_back({{"numa_node", pool.numa_node},
                     {"page_bytes", pool.page_bytes},
                     {"reserved", pool.reserved},
                     {"free", pool.free}});
  }
  return {{"machine_bytes", memory.machine_bytes},
          {"locked_limit_bytes",
           memory.locked_limit ? OrderedJson(*memory.locked_limit) : OrderedJson(nullptr)},
          {"may_exceed_limit", memory.exempt},
          {"huge_pages", pools}};
}

}  // namespace

OrderedJson rail_json(const MachineRails& rails) {
  OrderedJson devices = OrderedJson::array();
  for (const DeviceReport& device : rails.rdma.devices) devices.push_back(device_of(device));
  OrderedJson interfaces = OrderedJson::array();
  for (const NetInterface& interface : rails.interfaces) {
    interfaces.push_back(interface_of(interface));
  }
  return {{"schema", kRailListSchema},
          {"devices", devices},
          {"hidden_devices", rails.rdma.hidden},
          {"interfaces", interfaces},
          {"memory", memory_of(rails.rdma.memory)},
          {"problems", rails.problems}};
}

}  // namespace corail::bench
