#include "engine/verbs/pcie_link.h"

#include <fmt/core.h>

#include <charconv>
#include <system_error>

namespace corail {
namespace {

/// Bits of data in bits on the wire: 8 in 10 up to generation 2, 128 in 130 up to generation 5, and
/// 242 bytes of 256 in the frames of generation 6.
double coding(double gigatransfers) noexcept {
  if (gigatransfers <= 5) return 8.0 / 10;
  if (gigatransfers < 64) return 128.0 / 130;
  return 242.0 / 256;
}

}  // namespace

std::optional<PcieLink> parse_pcie_link(std::string_view speed, std::string_view width) {
  PcieLink link;
  const auto fast = std::from_chars(speed.data(), speed.data() + speed.size(), link.gigatransfers);
  const auto wide = std::from_chars(width.data(), width.data() + width.size(), link.lanes);
  const bool known = fast.ec == std::errc() && wide.ec == std::errc();
  // A link that is asleep says 0 lanes, or 63 of them.
  if (!known || !(link.gigatransfers > 0) || link.lanes == 0 || link.lanes > 32) {
    return std::nullopt;
  }
  return link;
}

double gigabytes_per_second(const PcieLink& link) noexcept {
  return link.gigatransfers * link.lanes * coding(link.gigatransfers) / 8;
}

std::string to_string(const PcieLink& link) {
  return fmt::format("{:g} GT/s x{}", link.gigatransfers, link.lanes);
}

}  // namespace corail
