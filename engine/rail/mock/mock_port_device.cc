#include "engine/rail/mock/mock_port_device.h"

#include <utility>

namespace corail {

MockPortDevice::MockPortDevice(asio::any_io_executor executor, Clock& clock, Random& random,
                               MockNet& net, MockOptions options, std::string address,
                               std::function<FaultScript()> scripts)
    : executor_(std::move(executor)),
      clock_(clock),
      random_(random),
      net_(net),
      options_(options),
      address_(std::move(address)),
      scripts_(std::move(scripts)) {}

std::unique_ptr<Transport> MockPortDevice::make_transport() const {
  return std::make_unique<MockTransport>(executor_, clock_, random_, net_, options_, scripts_());
}

std::unique_ptr<RailDoor> MockPortDevice::make_door() const {
  return std::make_unique<MockHolder>(net_, address_);
}

}  // namespace corail
