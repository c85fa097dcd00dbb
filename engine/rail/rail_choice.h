#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "engine/base/result.h"
#include "engine/rail/rail_spec.h"

namespace corail {

/// Which devices' ports a user wants, as NCCL_IB_HCA and UCX say it. A value.
///
///   verbs:NAME[:PORT][/GID],...    the device of that name, or those whose names begin so
///   verbs:=NAME[:PORT][/GID],...   the device of that name only
///   verbs:^NAME[:PORT],...         all but those; ^= for exact names
///
/// A sign is for the whole list. Without a port a name of a device means its port 1; a beginning,
/// and what ^ leaves, mean every port that is active.
struct VerbsChoice {
  struct Name {
    std::string device;
    std::optional<std::uint8_t> port;
    std::optional<std::uint8_t> gid;
  };

  bool exact = false;
  bool all_but = false;
  std::vector<Name> names;  // one at least
};

/// What a user writes for one or several rails. A value.
using RailChoice = std::variant<RailSpec, VerbsChoice>;

/// A port of an RDMA device that this machine has. A value.
struct DevicePort {
  std::string device;
  std::uint8_t port = 1;
  bool active = false;
};

/// Reads the items of a list that was split at its commas: one without a transport goes on with the
/// verbs list before it. Fails as parse_rail_spec() does. Pure.
Result<std::vector<RailChoice>> parse_rail_choices(std::span<const std::string> items);

/// The rails that are meant, in the order of the choices and, within one, of its names and of
/// `ports`; within one choice no port twice. A plain name that no port has stays as it is, for
/// whoever opens it to refuse. Fails with kUnknownName where a choice means no port, naming those
/// there are. Pure.
Result<std::vector<RailSpec>> choose_rails(std::span<const RailChoice> choices,
                                           std::span<const DevicePort> ports);

/// The ports of this machine's devices, but none where no choice needs to know them. Opens and
/// closes each device.
std::vector<DevicePort> machine_ports(std::span<const RailChoice> choices);

}  // namespace corail
