#include "engine/rail/verbs/verbs_port_device.h"

#include <utility>

#include "engine/rail/verbs/verbs_rail_door.h"
#include "engine/rail/verbs/verbs_transport.h"

namespace corail {

VerbsPortDevice::VerbsPortDevice(std::shared_ptr<VerbsPort> port,
                                 std::unique_ptr<asio::thread_pool> control, Clock& clock)
    : port_(std::move(port)), control_(std::move(control)), clock_(clock) {}

VerbsPortDevice::~VerbsPortDevice() {
  control_->join();
  port_->shut();
}

std::unique_ptr<Transport> VerbsPortDevice::make_transport() const {
  return std::make_unique<VerbsTransport>(port_, clock_);
}

std::unique_ptr<RailDoor> VerbsPortDevice::make_door() const {
  return std::make_unique<VerbsRailDoor>(port_, clock_);
}

}  // namespace corail
