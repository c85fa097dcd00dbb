#include "rpc/node_ports.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "engine/rail/rail_spec.h"

namespace corail {

Result<std::vector<std::unique_ptr<Port>>> make_node_ports(
    const NodeOptions& options, std::span<const std::unique_ptr<Executor>> executors, Clock& clock,
    Random& random) {
  PortOptions port_options = port_options_of(options);
  port_options.seed = random.next();
  std::vector<std::unique_ptr<Port>> ports;
  for (std::uint32_t i = 0; i < options.rails.size(); ++i) {
    auto spec = parse_rail_spec(options.rails[i]);
    if (!spec) return std::move(spec).error().at(Stage::kSetup);
    auto port = Port::make(PortIndex(i), std::move(*spec), *executors[i % executors.size()], clock,
                           port_options);
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
