#include "engine/rail/verbs/verbs_port_device.h"

#include <utility>

#include "engine/rail/verbs/verbs_rail_door.h"
#include "engine/rail/verbs/verbs_transport.h"

namespace corail {

VerbsPortDevice::VerbsPortDevice(std::shared_ptr<VerbsPort> port, Clock& clock)
    : port_(std::move(port)), clock_(clock) {}

VerbsPortDevice::~VerbsPortDevice() { port_->shut(); }

std::unique_ptr<Transport> VerbsPortDevice::make_transport() const {
  return std::make_unique<VerbsTransport>(port_, clock_);
}

std::unique_ptr<RailDoor> VerbsPortDevice::make_door() const {
  return std::make_unique<VerbsRailDoor>(port_, clock_);
}

}  // namespace corail
