#include "engine/rail/tcp/tcp_port_device.h"

#include <utility>

#include "engine/rail/tcp/tcp_rail_door.h"
#include "engine/rail/tcp/tcp_transport.h"

namespace corail {

TcpPortDevice::TcpPortDevice(asio::any_io_executor executor, Clock& clock, TcpOptions options)
    : executor_(std::move(executor)), clock_(clock), options_(std::move(options)) {}

std::unique_ptr<Transport> TcpPortDevice::make_transport() const {
  return std::make_unique<TcpTransport>(executor_, clock_, options_);
}

std::unique_ptr<RailDoor> TcpPortDevice::make_door() const {
  return std::make_unique<TcpRailDoor>(executor_, clock_, options_);
}

}  // namespace corail
