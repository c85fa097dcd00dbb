#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/verbs/device_facts.h"
#include "engine/verbs/pcie_link.h"

namespace corail {

/// As a NUMA node: the machine does not say.
inline constexpr std::int32_t kUnknownNode = -1;

/// A port of an RDMA device. A value.
struct PortReport {
  std::uint8_t number = 1;
  PortFacts facts;
  std::vector<GidEntry> gids;
  double gigabits_per_second = 0;  // of its link; 0: the kernel does not say
  std::string interface;           // the network interface that its GIDs come from; empty: none
};

/// An RDMA device. A value.
struct DeviceReport {
  std::string name;
  std::string trouble;  // why nothing more is known of it; empty: all is
  DeviceLimits limits;
  std::int32_t numa_node = kUnknownNode;
  std::optional<PcieLink> pcie;       // as it is; none for a device that is software
  std::optional<PcieLink> pcie_most;  // what the device could do
  std::vector<PortReport> ports;
};

/// Huge pages of one size on one NUMA node. A value.
struct HugePages {
  std::int32_t numa_node = 0;
  std::uint64_t page_bytes = 0;
  std::uint64_t reserved = 0;
  std::uint64_t free = 0;
};

/// What can be registered, and in which pages. A value.
struct MemoryReport {
  std::uint64_t machine_bytes = 0;            // 0: unknown
  std::optional<std::uint64_t> locked_limit;  // bytes; none: no limit
  bool exempt = false;                        // this process may lock more than the limit
  std::vector<HugePages> huge_pages;
};

/// What a machine has for verbs rails. A value.
struct MachineFacts {
  std::vector<DeviceReport> devices;
  /// Devices that the kernel has and libibverbs does not show to this process.
  std::vector<std::string> hidden;
  MemoryReport memory;
};

}  // namespace corail
