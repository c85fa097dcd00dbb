#include "engine/rail/port.h"

#include <utility>
#include <variant>

#include "engine/rail/tcp/tcp_options.h"
#include "engine/rail/tcp/tcp_port_device.h"

namespace corail {
namespace {

TcpOptions tcp_options(const RailSpec& spec, const PortOptions& options) {
  TcpOptions tcp;
  tcp.local_address = std::get<TcpRailSpec>(spec).address;
  tcp.channels = options.channels_per_rail;
  tcp.preface_time = options.handshake_time;
  tcp.send_buffer = options.send_buffer_bytes;
  return tcp;
}

}  // namespace

Result<std::unique_ptr<Port>> Port::make(PortIndex index, RailSpec spec, Executor& executor,
                                         Clock& clock, PortOptions options) {
  if (!std::holds_alternative<TcpRailSpec>(spec)) {
    return Error(Errc::kUnknownName, Stage::kSetup,
                 to_string(spec) +
                     " names a transport that this build does not have; it has tcp:, "
                     "such as tcp:127.0.0.1");
  }
  TcpOptions tcp = tcp_options(spec, options);
  auto checked = check_options(tcp);
  if (!checked) return std::move(checked).error().at(Stage::kSetup);
  auto device = std::make_unique<TcpPortDevice>(executor.asio_executor(), clock, std::move(tcp));
  return over(index, to_string(spec), executor, clock, std::move(device), options.budget_bytes);
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
