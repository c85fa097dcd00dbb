#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace corail {

/// A network interface with the addresses that tcp rails may leave from. A value.
struct NetInterface {
  std::string name;
  bool up = false;
  std::uint32_t megabits_per_second = 0;  // 0: the kernel does not say
  std::uint32_t mtu_bytes = 0;
  std::int32_t numa_node = -1;         // -1: the machine does not say
  std::vector<std::string> addresses;  // numeric, IPv4 first; no link-local ones
};

/// Interfaces of this machine that have an address, by name; what the kernel's files under `root`
/// ("" but in tests) say of them. Any thread.
std::vector<NetInterface> net_interfaces(const std::string& root);

}  // namespace corail
