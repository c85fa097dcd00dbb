#pragma once

#include <asio/thread_pool.hpp>
#include <memory>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/rail/port_device.h"
#include "engine/rail/verbs/verbs_port.h"

namespace corail {

/// A port of an RDMA device, and the threads that make its long calls. As PortDevice says; the
/// clock must outlive what it makes.
class VerbsPortDevice final : public PortDevice {
 public:
  /// `control` is the port's control executor.
  VerbsPortDevice(std::shared_ptr<VerbsPort> port, std::unique_ptr<asio::thread_pool> control,
                  Clock& clock);
  /// Where VerbsPort::shut may be called. Waits for the call of a device that hangs: such a process
  /// could not end either.
  ~VerbsPortDevice() override;

  std::string_view transport() const noexcept override { return "verbs"; }
  std::unique_ptr<Transport> make_transport() const override;
  std::unique_ptr<RailDoor> make_door() const override;
  std::shared_ptr<PortHealth> health() const override { return port_->health(); }
  std::shared_ptr<MemoryRegistrar> registrar() const override { return port_->memory(); }

 private:
  const std::shared_ptr<VerbsPort> port_;
  const std::unique_ptr<asio::thread_pool> control_;
  Clock& clock_;
};

}  // namespace corail
