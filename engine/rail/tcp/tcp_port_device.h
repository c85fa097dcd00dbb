#pragma once

#include <asio/any_io_executor.hpp>
#include <memory>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/rail/port_device.h"
#include "engine/rail/tcp/tcp_options.h"

namespace corail {

/// A local address that tcp rails leave from and arrive at. The options have passed
/// check_options(); the clock outlives it.
class TcpPortDevice final : public PortDevice {
 public:
  TcpPortDevice(asio::any_io_executor executor, Clock& clock, TcpOptions options);

  std::string_view transport() const noexcept override { return "tcp"; }
  std::unique_ptr<Transport> make_transport() const override;
  std::unique_ptr<RailDoor> make_door() const override;

 private:
  const asio::any_io_executor executor_;
  Clock& clock_;
  const TcpOptions options_;
};

}  // namespace corail
