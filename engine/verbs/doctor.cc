#include "engine/verbs/doctor.h"

#include <fmt/core.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "engine/base/small_file.h"
#include "engine/base/units.h"
#include "engine/verbs/device.h"

namespace corail {
namespace {

/// The right to lock memory without a limit: CAP_IPC_LOCK, a bit of CapEff.
constexpr unsigned kLockRight = 14;

/// The text behind "NAME:" in a file of such lines, without white space around it.
std::string value_of(const std::string& text, std::string_view name) {
  const std::string key = fmt::format("{}:", name);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(key)) continue;
    const std::size_t begin = line.find_first_not_of(" \t", key.size());
    return begin == std::string::npos ? std::string() : line.substr(begin);
  }
  return {};
}

std::uint64_t number_in(std::string_view text, int base) noexcept {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number, base);
  return number;
}

/// A number between two parts of a name, as in "node12" or "hugepages-2048kB".
std::optional<std::uint64_t> number_of_name(std::string_view name, std::string_view before,
                                            std::string_view behind) {
  if (!name.starts_with(before) || !name.ends_with(behind)) return std::nullopt;
  name = name.substr(before.size(), name.size() - before.size() - behind.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

std::optional<PcieLink> read_link(const std::string& folder, std::string_view kind) {
  const auto speed = read_small_file(fmt::format("{}/device/{}_link_speed", folder, kind));
  const auto width = read_small_file(fmt::format("{}/device/{}_link_width", folder, kind));
  if (!speed || !width) return std::nullopt;
  return parse_pcie_link(*speed, *width);
}

/// "100 Gb/sec (4X EDR)".
double read_rate(const std::string& folder) {
  const auto text = read_small_file(folder + "/rate");
  double rate = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), rate);
  return rate;
}

std::string read_interface(const std::string& folder) {
  for (const std::string& index : list_folder(folder + "/gid_attrs/ndevs")) {
    const auto name = read_small_file(folder + "/gid_attrs/ndevs/" + index);
    if (name && !name->empty()) return *name;
  }
  return {};
}

Result<PortReport> examine_port(const Device& device, std::uint8_t number,
                                const std::string& folder) {
  PortReport port;
  port.number = number;
  const auto facts = device.port(number);
  if (!facts.ok()) return facts.error();
  port.facts = *facts;
  auto gids = device.gids(number);
  if (!gids.ok()) return std::move(gids).error();
  port.gids = std::move(gids).value();
  port.gigabits_per_second = read_rate(folder);
  port.interface = read_interface(folder);
  return port;
}

DeviceReport examine_device(const VerbsApi& api, const std::string& name,
                            const std::string& folder) {
  DeviceReport report;
  report.name = name;
  const auto node = read_number(folder + "/device/numa_node");
  if (node && *node >= 0) report.numa_node = static_cast<std::int32_t>(*node);
  report.pcie = read_link(folder, "current");
  report.pcie_most = read_link(folder, "max");
  const auto device = Device::open(api, name);
  if (!device.ok()) {
    report.trouble = device.error().detail();
    return report;
  }
  report.limits = (*device)->limits();
  for (std::uint32_t number = 1; number <= report.limits.ports; ++number) {
    auto port = examine_port(**device, static_cast<std::uint8_t>(number),
                             fmt::format("{}/ports/{}", folder, number));
    if (!port.ok()) {
      report.trouble = port.error().detail();
      return report;
    }
    report.ports.push_back(std::move(port).value());
  }
  return report;
}

std::vector<HugePages> examine_huge_pages(const std::string& root) {
  std::vector<HugePages> pools;
  const std::string nodes = root + "/sys/devices/system/node";
  for (const std::string& name : list_folder(nodes)) {
    const auto node = number_of_name(name, "node", "");
    if (!node) continue;
    const std::string folder = fmt::format("{}/{}/hugepages", nodes, name);
    for (const std::string& kind : list_folder(folder)) {
      const auto kib = number_of_name(kind, "hugepages-", "kB");
      if (!kib) continue;
      HugePages pool;
      pool.numa_node = static_cast<std::int32_t>(*node);
      pool.page_bytes = *kib * kKiB;
      const auto count = [&folder, &kind](std::string_view what) {
        const auto number = read_number(fmt::format("{}/{}/{}", folder, kind, what));
        return static_cast<std::uint64_t>(std::max<std::int64_t>(0, number.value_or(0)));
      };
      pool.reserved = count("nr_hugepages");
      pool.free = count("free_hugepages");
      pools.push_back(pool);
    }
  }
  return pools;
}

MemoryReport examine_memory(const std::string& root) {
  MemoryReport memory;
  const std::string meminfo = read_small_file(root + "/proc/meminfo").value_or("");
  memory.machine_bytes = number_in(value_of(meminfo, "MemTotal"), 10) * kKiB;
  rlimit limit{};
  const bool limited = ::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
  if (limited) memory.locked_limit = limit.rlim_cur;
  const std::string status = read_small_file(root + "/proc/self/status").value_or("");
  memory.exempt = ((number_in(value_of(status, "CapEff"), 16) >> kLockRight) & 1U) != 0;
  memory.huge_pages = examine_huge_pages(root);
  return memory;
}

}  // namespace

MachineFacts examine_machine(const VerbsApi& api, const std::string& root) {
  MachineFacts machine;
  const std::string folder = root + "/sys/class/infiniband";
  const std::vector<std::string> names = device_names(api);
  for (const std::string& name : names) {
    machine.devices.push_back(examine_device(api, name, fmt::format("{}/{}", folder, name)));
  }
  for (const std::string& name : list_folder(folder)) {
    const bool shown = std::find(names.begin(), names.end(), name) != names.end();
    if (!shown) machine.hidden.push_back(name);
  }
  machine.memory = examine_memory(root);
  return machine;
}

}  // namespace corail
