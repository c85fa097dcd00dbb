#include "engine/rail/rail_spec.h"

#include <fmt/core.h>

#include <array>
#include <asio/ip/address.hpp>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

namespace corail {
namespace {

constexpr std::string_view kForms =
    "tcp:ADDRESS, verbs:DEVICE[:PORT][/GID] and mock:RATE[+LATENCY[~JITTER]]";

Error malformed(std::string_view text, std::string_view why) {
  return Error(Errc::kInvalidArgument, Stage::kSetup,
               fmt::format("'{}' is no rail: {}; rails are written {}", text, why, kForms));
}

std::optional<std::uint8_t> parse_byte(std::string_view text) {
  std::uint8_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

Result<RailSpec> parse_tcp(std::string_view text, std::string_view rest) {
  if (rest.size() > 2 && rest.front() == '[' && rest.back() == ']') {
    rest = rest.substr(1, rest.size() - 2);
  }
  std::error_code error;
  const auto address = asio::ip::make_address(rest, error);
  if (error) {
    return malformed(text, fmt::format("'{}' is no numeric address of this machine, and no name "
                                       "or port may stand there",
                                       rest));
  }
  if (address.is_unspecified() || address.is_multicast()) {
    return malformed(text, "a rail is one path, so it needs one address of this machine");
  }
  return RailSpec(TcpRailSpec{address.to_string()});
}

Result<RailSpec> parse_verbs(std::string_view text, std::string_view rest) {
  VerbsRailSpec spec;
  if (const auto slash = rest.find('/'); slash != std::string_view::npos) {
    spec.gid = parse_byte(rest.substr(slash + 1));
    if (!spec.gid) return malformed(text, "the GID index is a number from 0 to 255");
    rest = rest.substr(0, slash);
  }
  if (const auto colon = rest.find(':'); colon != std::string_view::npos) {
    const auto port = parse_byte(rest.substr(colon + 1));
    if (!port || *port == 0) return malformed(text, "the port is a number from 1 to 255");
    spec.port = *port;
    rest = rest.substr(0, colon);
  }
  if (rest.empty()) return malformed(text, "the device's name is missing");
  spec.device = std::string(rest);
  return RailSpec(std::move(spec));
}

Result<RailSpec> parse_mock(std::string_view text, std::string_view rest) {
  const auto model = parse_link_model(rest);
  if (!model.ok()) return malformed(text, model.error().detail());
  return RailSpec(MockRailSpec{*model});
}

std::string write_spec(const TcpRailSpec& spec) { return "tcp:" + spec.address; }

std::string write_spec(const VerbsRailSpec& spec) {
  std::string text = fmt::format("verbs:{}:{}", spec.device, spec.port);
  if (spec.gid) text += fmt::format("/{}", *spec.gid);
  return text;
}

std::string write_spec(const MockRailSpec& spec) { return "mock:" + format_link_model(spec.model); }

}  // namespace

Result<RailSpec> parse_rail_spec(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos) return malformed(text, "the colon is missing");
  const std::string_view scheme = text.substr(0, colon);
  const std::string_view rest = text.substr(colon + 1);
  if (scheme == "tcp") return parse_tcp(text, rest);
  if (scheme == "verbs") return parse_verbs(text, rest);
  if (scheme == "mock") return parse_mock(text, rest);
  return Error(Errc::kUnknownName, Stage::kSetup,
               fmt::format("'{}': there is no transport '{}'; there are {}", text, scheme, kForms));
}

std::string to_string(const RailSpec& spec) {
  return std::visit([](const auto& known) { return write_spec(known); }, spec);
}

}  // namespace corail
