#include "rpc/node_ports.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

#include "engine/rail/rail_choice.h"

namespace corail {

Result<std::vector<RailSpec>> rail_specs_of(const NodeOptions& options) {
  auto choices = parse_rail_choices(options.rails);
  if (!choices) return std::move(choices).error().at(Stage::kSetup);
  auto specs = choose_rails(*choices, machine_ports(*choices));
  if (!specs) return std::move(specs).error().at(Stage::kSetup);
  if (specs->size() > kMaxRailSpecs) {
    return Error(Errc::kInvalidArgument, Stage::kSetup,
                 fmt::format("{} rails were chosen, a node has at most {}; name fewer devices",
                             specs->size(), kMaxRailSpecs));
  }
  return specs;
}

Duration spin_budget(const NodeOptions& options, std::span<const RailSpec> specs,
                     std::uint32_t threads, std::uint32_t cores) {
  const bool polled = std::any_of(specs.begin(), specs.end(), [](const RailSpec& spec) {
    return std::holds_alternative<VerbsRailSpec>(spec);
  });
  return polled && threads < cores ? options.spin : Duration::zero();
}

Result<std::vector<std::unique_ptr<Port>>> make_node_ports(
    const NodeOptions& options, std::span<const RailSpec> specs,
    std::span<const std::unique_ptr<Executor>> executors, Clock& clock, Random& random) {
  PortOptions port_options = port_options_of(options);
  port_options.seed = random.next();
  std::vector<std::unique_ptr<Port>> ports;
  for (std::size_t i = 0; i < specs.size(); ++i) {
    auto port = Port::make(PortIndex(static_cast<std::uint32_t>(i)), specs[i],
                           *executors[i % executors.size()], clock, port_options);
    if (!port) return std::move(port).error().at(Stage::kSetup);
    ports.push_back(std::move(*port));
  }
  return ports;
}

MemoryRegistrars registrars_of(std::span<const std::unique_ptr<Port>> ports) {
  MemoryRegistrars registrars;
  for (const auto& port : ports) registrars.push_back(port->registrar());
  const auto none = [](const auto& registrar) { return registrar == nullptr; };
  if (std::all_of(registrars.begin(), registrars.end(), none)) registrars.clear();
  return registrars;
}

}  // namespace corail
