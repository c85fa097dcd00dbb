#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/rail/tcp/interfaces.h"
#include "engine/verbs/machine_facts.h"

namespace corail {

/// What this machine has for rails of any transport, and what is wrong with it. A value.
struct MachineRails {
  MachineFacts rdma;
  std::vector<NetInterface> interfaces;
  std::vector<std::string> problems;  // a sentence each: what it is, and what to do
};

/// Looks, and changes nothing: see examine_machine() and net_interfaces(), which `root` is for.
MachineRails examine_rails(const std::string& root);

/// The GID that rails through this port take where none is named, as people read it: "10.0.0.1
/// (index 3)", "lid 7"; "none" where no rail can be made.
std::string chosen_gid(const PortReport& port);

/// "Ethernet", "InfiniBand".
std::string_view name_of(LinkLayer link) noexcept;
/// "active", "down", "initialized".
std::string_view name_of(PortState state) noexcept;

}  // namespace corail
