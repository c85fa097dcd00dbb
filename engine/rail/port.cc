#include "engine/rail/port.h"

#include <asio/thread_pool.hpp>
#include <memory>
#include <utility>
#include <variant>

#include "engine/rail/tcp/tcp_options.h"
#include "engine/rail/tcp/tcp_port_device.h"
#include "engine/rail/verbs/verbs_port.h"
#include "engine/rail/verbs/verbs_port_device.h"
#include "engine/verbs/verbs_api.h"

namespace corail {
namespace {

/// Of a port: a call that takes long holds up no more than itself until so many do.
constexpr std::size_t kControlThreads = 4;

TcpOptions tcp_options(const RailSpec& spec, const PortOptions& options) {
  TcpOptions tcp;
  tcp.local_address = std::get<TcpRailSpec>(spec).address;
  tcp.channels = options.channels_per_rail;
  tcp.preface_time = options.handshake_time;
  tcp.send_buffer = options.send_buffer_bytes;
  return tcp;
}

Result<std::unique_ptr<PortDevice>> make_device(const RailSpec& spec, Executor& executor,
                                                Clock& clock, const PortOptions& options) {
  using Device = std::unique_ptr<PortDevice>;
  if (std::holds_alternative<TcpRailSpec>(spec)) {
    TcpOptions tcp = tcp_options(spec, options);
    auto checked = check_options(tcp);
    if (!checked) return std::move(checked).error();
    return Device(std::make_unique<TcpPortDevice>(executor.asio_executor(), clock, std::move(tcp)));
  }
  if (std::holds_alternative<VerbsRailSpec>(spec)) {
    auto control = std::make_unique<asio::thread_pool>(kControlThreads);
    auto port = VerbsPort::open(system_verbs(), executor, control->get_executor(),
                                verbs_options_of(std::get<VerbsRailSpec>(spec), options));
    if (!port) return std::move(port).error();
    return Device(std::make_unique<VerbsPortDevice>(std::move(*port), std::move(control), clock));
  }
  return Error(Errc::kUnknownName,
               to_string(spec) +
                   " names a transport that this build does not have; it has tcp: and verbs:, "
                   "such as tcp:127.0.0.1 and verbs:mlx5_0:1");
}

}  // namespace

VerbsOptions verbs_options_of(const VerbsRailSpec& spec, const PortOptions& options) {
  VerbsOptions verbs;
  verbs.device = spec.device;
  verbs.port = spec.port;
  verbs.gid = spec.gid ? spec.gid : options.gid_index;
  verbs.channels = options.channels_per_rail;
  verbs.tuning = options.path_tuning;
  verbs.max_region_bytes = options.max_region_bytes;
  verbs.seed = options.seed;
  return verbs;
}

Result<std::unique_ptr<Port>> Port::make(PortIndex index, RailSpec spec, Executor& executor,
                                         Clock& clock, PortOptions options) {
  Result<std::unique_ptr<PortDevice>> device = make_device(spec, executor, clock, options);
  if (!device) return std::move(device).error().at(Stage::kSetup);
  return over(index, to_string(spec), executor, clock, std::move(*device), options.budget_bytes);
}

std::unique_ptr<Port> Port::over(PortIndex index, std::string name, Executor& executor,
                                 Clock& clock, std::unique_ptr<PortDevice> device,
                                 std::uint64_t budget_bytes) {
  return std::unique_ptr<Port>(
      new Port(index, std::move(name), executor, clock, std::move(device), budget_bytes));
}

Port::Port(PortIndex index, std::string name, Executor& executor, Clock& clock,
           std::unique_ptr<PortDevice> device, std::uint64_t budget_bytes)
    : index_(index),
      name_(std::move(name)),
      executor_(executor),
      clock_(clock),
      device_(std::move(device)),
      budget_(std::make_shared<PortBudget>(budget_bytes)) {}

}  // namespace corail
