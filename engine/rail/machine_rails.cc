#include "engine/rail/machine_rails.h"

#include <fmt/core.h>

#include <optional>

#include "engine/rail/verbs/gid_text.h"
#include "engine/verbs/doctor.h"
#include "engine/verbs/path_choice.h"
#include "engine/verbs/verbs_api.h"

namespace corail {

MachineRails examine_rails(const std::string& root) {
  MachineRails rails;
  rails.rdma = examine_machine(system_verbs(), root);
  rails.interfaces = net_interfaces(root);
  rails.problems = advise(rails.rdma);
  return rails;
}

std::string chosen_gid(const PortReport& port) {
  const auto gid = choose_gid(port.gids, port.facts.link, std::nullopt, "the port");
  if (!gid.ok()) return "none";
  if (port.facts.link == LinkLayer::kInfiniBand) return gid_text(*gid, port.facts);
  return fmt::format("{} (index {})", gid_text(*gid, port.facts), gid->index);
}

std::string_view name_of(LinkLayer link) noexcept {
  return link == LinkLayer::kInfiniBand ? "InfiniBand" : "Ethernet";
}

std::string_view name_of(PortState state) noexcept {
  switch (state) {
    case PortState::kDown:
      return "down";
    case PortState::kInitialized:
      return "initialized";
    case PortState::kArmed:
      return "armed";
    case PortState::kActive:
      return "active";
    case PortState::kDeferred:
      return "deferred";
    case PortState::kUnknown:
      return "unknown";
  }
  return "unknown";
}

}  // namespace corail
