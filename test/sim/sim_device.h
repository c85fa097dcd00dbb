#pragma once

#include <asio/io_context.hpp>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/rail/mock/mock_port_device.h"
#include "engine/rail/port_device.h"
#include "test/sim/planted_transport.h"
#include "test/sim/rail_observer.h"

namespace corail::sim {

/// What the driver may do to a device from outside: the hands on the hardware.
struct DeviceHandles {
  MockHolder* door = nullptr;  // owned by the port host
  struct Rail {
    std::size_t link = 0;
    std::weak_ptr<MockTransport*> transport;  // gone with the transport
    asio::any_io_executor executor;
  };
  std::vector<Rail> rails;

  /// Devices that do not close do so now.
  void unstick(std::size_t link) const;
};

/// Decides, when a rail is opened, which connection it belongs to and what it will do wrong.
struct RailDraw {
  std::size_t link = 0;
  std::uint64_t window = 0;
  FaultScript script;
};

/// Adds what a planted bug needs to show itself, and the bug.
void plant_faults(Plant plant, Random& random, FaultScript& script);

/// A mock port with an observer's ears and a planted bug around what it makes.
class SimDevice final : public PortDevice {
 public:
  struct Surroundings {
    asio::io_context& context;  // of this port, and nobody else's
    Clock& clock;
    Random& random;
    MockNet& net;
    RailObserver& observer;
    std::deque<RailRecord>& rails;
    DeviceHandles& handles;
    PlantSite site;
    std::function<RailDraw()> draw;
  };

  SimDevice(Surroundings around, MockOptions options, std::string address);

  std::string_view transport() const noexcept override { return mock_.transport(); }
  std::unique_ptr<Transport> make_transport() const override;
  std::unique_ptr<RailDoor> make_door() const override;

 private:
  const Surroundings around_;
  mutable FaultScript next_script_;  // drawn for the transport that is being made
  const MockPortDevice mock_;
};

}  // namespace corail::sim
