#pragma once

#include <memory>
#include <string_view>

#include "engine/memory/memory_registrar.h"
#include "engine/rail/health.h"
#include "engine/rail/rail_door.h"
#include "engine/rail/transport.h"

namespace corail {

/// What a port is made of: makes both sides of the rails that go through it. One implementation per
/// transport, and whatever a test puts in front of one.
///
/// Owned by the port, immutable, any thread. What it makes belongs to the executor that it was
/// given, and is closed before it goes.
class PortDevice {
 public:
  virtual ~PortDevice() = default;

  /// What carries its rails, as in RailEndpoint::transport.
  virtual std::string_view transport() const noexcept = 0;

  /// The requester's side of a new rail.
  virtual std::unique_ptr<Transport> make_transport() const = 0;
  /// The holder's side of the port. One per port.
  virtual std::unique_ptr<RailDoor> make_door() const = 0;

  /// What the device tells of the port, on the executor; null where it tells nothing.
  virtual std::shared_ptr<PortHealth> health() const { return nullptr; }

  /// Through which memory becomes known to the device; null where it needs not be.
  virtual std::shared_ptr<MemoryRegistrar> registrar() const { return nullptr; }
};

}  // namespace corail
