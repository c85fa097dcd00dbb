#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace corail {

/// How a device is connected to its host. A value.
struct PcieLink {
  double gigatransfers = 0;  // per second and lane: 8 for generation 3, 16 for 4, 32 for 5
  std::uint32_t lanes = 0;

  bool operator==(const PcieLink&) const = default;
};

/// From what the kernel writes of a link: "16.0 GT/s PCIe" and "16". Nothing where either is not
/// known, as of a device that is software.
std::optional<PcieLink> parse_pcie_link(std::string_view speed, std::string_view width);

/// What it carries in one direction, in GB/s: bits on the wire less their coding, headers of
/// packets included.
double gigabytes_per_second(const PcieLink& link) noexcept;

/// "16 GT/s x8".
std::string to_string(const PcieLink& link);

}  // namespace corail
