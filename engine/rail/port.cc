#include "engine/rail/port.h"

#include <utility>
#include <variant>

#include "engine/rail/tcp/tcp_rail_door.h"
#include "engine/rail/tcp/tcp_transport.h"

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
  auto checked = check_options(tcp_options(spec, options));
  if (!checked) return std::move(checked).error().at(Stage::kSetup);
  return std::unique_ptr<Port>(new Port(index, std::move(spec), executor, clock, options));
}

Port::Port(PortIndex index, RailSpec spec, Executor& executor, Clock& clock, PortOptions options)
    : index_(index),
      spec_(std::move(spec)),
      name_(to_string(spec_)),
      executor_(executor),
      clock_(clock),
      options_(options) {}

std::unique_ptr<Transport> Port::make_transport() const {
  return std::make_unique<TcpTransport>(executor_.asio_executor(), clock_,
                                        tcp_options(spec_, options_));
}

std::unique_ptr<RailDoor> Port::make_door() const {
  return std::make_unique<TcpRailDoor>(executor_.asio_executor(), clock_,
                                       tcp_options(spec_, options_));
}

}  // namespace corail
