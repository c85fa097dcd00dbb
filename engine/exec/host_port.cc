#include "engine/exec/host_port.h"

#include <fmt/core.h>

#include <charconv>

namespace corail {
namespace {

Error malformed(std::string_view text, std::string_view why) {
  return Error(Errc::kInvalidArgument, Stage::kConnect,
               fmt::format("'{}' is no address: {}; write 10.0.0.2:7700, [::1]:7700 or name:7700",
                           text, why));
}

}  // namespace

Result<HostPort> parse_host_port(std::string_view text) {
  std::string_view host;
  std::string_view port;
  if (text.starts_with('[')) {
    const auto close = text.find("]:");
    if (close == std::string_view::npos) return malformed(text, "']:' is missing");
    host = text.substr(1, close - 1);
    port = text.substr(close + 2);
  } else {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return malformed(text, "the port is missing");
    if (text.find(':', colon + 1) != std::string_view::npos) {
      return malformed(text, "it has several colons and no brackets");
    }
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  if (host.empty()) return malformed(text, "the host is missing");
  if (host.find_first_of("[]/ \t\r\n") != std::string_view::npos) {
    return malformed(text, "the host has characters that no host has");
  }
  HostPort result;
  const char* const end = port.data() + port.size();
  const auto [stopped, error] = std::from_chars(port.data(), end, result.port);
  if (error != std::errc() || stopped != end) {
    return malformed(text, "the port is no number from 0 to 65535");
  }
  result.host = host;
  return result;
}

std::string format_host_port(std::string_view host, std::uint16_t port) {
  const bool v6 = host.find(':') != std::string_view::npos;
  return v6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

}  // namespace corail
