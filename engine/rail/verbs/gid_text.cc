#include "engine/rail/verbs/gid_text.h"

#include <fmt/core.h>

#include <asio/ip/address_v4.hpp>
#include <asio/ip/address_v6.hpp>

namespace corail {

std::string gid_text(const GidEntry& gid, const PortFacts& facts) {
  if (facts.link == LinkLayer::kInfiniBand) return fmt::format("lid {}", facts.lid);
  const asio::ip::address_v6 address(gid.gid);
  if (address.is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address).to_string();
  }
  return address.to_string();
}

}  // namespace corail
