#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "engine/base/result.h"
#include "engine/rail/mock/mock_link.h"

namespace corail {

/// tcp:ADDRESS. The rails of this port leave from, and its door listens on, this local address.
struct TcpRailSpec {
  std::string address;  // numeric, in canonical form, without brackets
};

/// verbs:DEVICE[:PORT][/GID].
struct VerbsRailSpec {
  std::string device;
  std::uint8_t port = 1;
  std::optional<std::uint8_t> gid;  // index into the port's table; empty: the best one
};

/// mock:RATE[+LATENCY[~JITTER]]. A modelled link in this process.
struct MockRailSpec {
  LinkModel model;
};

/// One local port, as a user writes it. A value.
using RailSpec = std::variant<TcpRailSpec, VerbsRailSpec, MockRailSpec>;

/// The most ports that one node may name (I8).
inline constexpr std::size_t kMaxRailSpecs = 64;

/// Reads one spec. Fails with kUnknownName for a scheme that does not exist, listing those that do,
/// and with kInvalidArgument for anything malformed. Whether this build has the transport is the
/// port's business.
Result<RailSpec> parse_rail_spec(std::string_view text);

/// The canonical text, which parse_rail_spec() reads back as the same spec.
std::string to_string(const RailSpec& spec);

}  // namespace corail
