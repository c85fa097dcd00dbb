#pragma once

#include <asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/rail/mock/fault_script.h"
#include "engine/rail/mock/mock_holder.h"
#include "engine/rail/mock/mock_transport.h"
#include "engine/rail/port_device.h"

namespace corail {

/// A modelled port: rails through it are mock rails over one net, and misbehave as the scripts say.
/// Clock, randomness and net outlive it and everything that it makes.
class MockPortDevice final : public PortDevice {
 public:
  /// `scripts` is asked once for every new rail; `address` names the door in the net.
  MockPortDevice(asio::any_io_executor executor, Clock& clock, Random& random, MockNet& net,
                 MockOptions options, std::string address, std::function<FaultScript()> scripts);

  std::string_view transport() const noexcept override { return "mock"; }
  std::unique_ptr<Transport> make_transport() const override;
  std::unique_ptr<RailDoor> make_door() const override;

 private:
  const asio::any_io_executor executor_;
  Clock& clock_;
  Random& random_;
  MockNet& net_;
  const MockOptions options_;
  const std::string address_;
  const std::function<FaultScript()> scripts_;
};

}  // namespace corail
