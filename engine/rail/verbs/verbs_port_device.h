#pragma once

#include <memory>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/rail/port_device.h"
#include "engine/rail/verbs/verbs_port.h"

namespace corail {

/// A port of an RDMA device. As PortDevice says; the clock must outlive what it makes.
class VerbsPortDevice final : public PortDevice {
 public:
  VerbsPortDevice(std::shared_ptr<VerbsPort> port, Clock& clock);
  /// Where VerbsPort::shut may be called.
  ~VerbsPortDevice() override;

  std::string_view transport() const noexcept override { return "verbs"; }
  std::unique_ptr<Transport> make_transport() const override;
  std::unique_ptr<RailDoor> make_door() const override;
  std::shared_ptr<PortHealth> health() const override { return port_->health(); }
  std::shared_ptr<MemoryRegistrar> registrar() const override { return port_->memory(); }

 private:
  const std::shared_ptr<VerbsPort> port_;
  Clock& clock_;
};

}  // namespace corail
