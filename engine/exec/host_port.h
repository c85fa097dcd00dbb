#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/result.h"

namespace corail {

struct HostPort {
  std::string host;  // a name or a numeric address, without brackets
  std::uint16_t port = 0;
};

/// Splits "10.0.0.2:7700", "[::1]:7700" or "node7:7700". Fails with kInvalidArgument, saying what
/// is wrong. The port may be 0.
Result<HostPort> parse_host_port(std::string_view text);

/// The inverse: brackets around IPv6.
std::string format_host_port(std::string_view host, std::uint16_t port);

}  // namespace corail
