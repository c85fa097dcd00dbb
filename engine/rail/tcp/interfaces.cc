#include "engine/rail/tcp/interfaces.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <asio/ip/address.hpp>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "engine/base/small_file.h"

namespace corail {
namespace {

std::optional<asio::ip::address> address_of(const sockaddr* address) {
  if (address == nullptr) return std::nullopt;
  if (address->sa_family == AF_INET) {
    sockaddr_in v4{};
    std::memcpy(&v4, address, sizeof v4);
    return asio::ip::address_v4(ntohl(v4.sin_addr.s_addr));
  }
  if (address->sa_family != AF_INET6) return std::nullopt;
  sockaddr_in6 v6{};
  std::memcpy(&v6, address, sizeof v6);
  asio::ip::address_v6::bytes_type bytes;
  std::memcpy(bytes.data(), &v6.sin6_addr, bytes.size());
  const asio::ip::address_v6 found(bytes);
  // They need a scope, and rails are written without.
  if (found.is_link_local()) return std::nullopt;
  return found;
}

std::uint32_t count_in(const std::string& path) {
  const std::int64_t number = read_number(path).value_or(0);
  const bool fits = number > 0 && number <= std::numeric_limits<std::uint32_t>::max();
  return fits ? static_cast<std::uint32_t>(number) : 0;
}

void describe(NetInterface& interface, const std::string& root) {
  const std::string folder = root + "/sys/class/net/" + interface.name;
  interface.megabits_per_second = count_in(folder + "/speed");
  interface.mtu_bytes = count_in(folder + "/mtu");
  const auto node = read_number(folder + "/device/numa_node");
  if (node && *node >= 0) interface.numa_node = static_cast<std::int32_t>(*node);
}

}  // namespace

std::vector<NetInterface> net_interfaces(const std::string& root) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned(list, &::freeifaddrs);
  std::map<std::string, NetInterface> by_name;
  std::map<std::string, std::vector<asio::ip::address>> addresses;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const auto address = address_of(entry->ifa_addr);
    if (!address) continue;
    NetInterface& interface = by_name[entry->ifa_name];
    interface.name = entry->ifa_name;
    constexpr unsigned kUp = IFF_UP | IFF_RUNNING;
    interface.up = (entry->ifa_flags & kUp) == kUp;
    addresses[interface.name].push_back(*address);
  }
  std::vector<NetInterface> interfaces;
  for (auto& [name, interface] : by_name) {
    auto& own = addresses[name];
    std::stable_sort(own.begin(), own.end(),
                     [](const auto& a, const auto& b) { return a.is_v4() && !b.is_v4(); });
    for (const auto& address : own) interface.addresses.push_back(address.to_string());
    describe(interface, root);
    interfaces.push_back(std::move(interface));
  }
  return interfaces;
}

}  // namespace corail
