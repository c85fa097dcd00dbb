#include "rpc/node_ports.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
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

std::vector<std::unique_ptr<Executor>> make_rail_executors(const NodeOptions& options,
                                                           std::span<const RailSpec> specs) {
  const std::uint32_t cores = std::max(1U, std::thread::hardware_concurrency());
  std::uint32_t threads = options.threads == 0 ? cores : options.threads;
  threads = std::min(threads, static_cast<std::uint32_t>(specs.size()));
  ExecutorOptions rail_thread;
  rail_thread.spin = spin_budget(options, specs, threads, cores);
  std::vector<std::unique_ptr<Executor>> executors;
  for (std::uint32_t i = 0; i < threads; ++i) {
    executors.push_back(std::make_unique<Executor>(fmt::format("rail-{}", i), rail_thread));
  }
  return executors;
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

std::unique_ptr<SlabPool> make_node_memory(const NodeOptions& options,
                                           std::span<const std::unique_ptr<Port>> ports) {
  SlabPoolOptions memory;
  memory.capacity_bytes = options.destination_bytes;
  memory.huge_pages = options.huge_pages;
  memory.registrars = registrars_of(ports);
  return std::make_unique<SlabPool>(memory);
}

Result<std::unique_ptr<BlockStore>> make_block_store(const NodeOptions& options,
                                                     std::span<const std::unique_ptr<Port>> ports,
                                                     RegionRegistry& registry, Clock& clock,
                                                     asio::any_io_executor home, BootId boot) {
  if (options.store.nodes.empty()) return std::unique_ptr<BlockStore>();
  try {
    StoreOptions store = options.store;
    store.registrars = registrars_of(ports);
    return std::make_unique<BlockStore>(std::move(store), registry, clock, std::move(home), boot);
  } catch (const std::exception& exception) {
    return Error(Errc::kOutOfMemory, Stage::kSetup, exception.what());
  }
}

}  // namespace corail
