#include "rpc/node_memory.h"

#include <utility>

#include "engine/exec/run_on.h"
#include "rpc/node_ports.h"

namespace corail {
namespace {

Task<Result<std::shared_ptr<CallersMemory>>> add_landing(std::shared_ptr<LandingRegistry> registry,
                                                         std::span<std::byte> bytes) {
  co_return registry->add(bytes);
}

}  // namespace

NodeMemory::NodeMemory(const NodeOptions& options, std::span<const std::unique_ptr<Port>> ports,
                       asio::any_io_executor home)
    : home_(std::move(home)),
      pool_(make_node_memory(options, ports)),
      landings_(std::make_shared<LandingRegistry>(registrars_of(ports))) {}

Task<Result<RegisteredMemory>> NodeMemory::register_memory(std::span<std::byte> bytes) {
  auto added = co_await run_on(mapping(), add_landing(landings_, bytes));
  if (!added) co_return std::move(added).error();
  co_return RegisteredMemory(std::move(*added), home_, mapping());
}

}  // namespace corail
