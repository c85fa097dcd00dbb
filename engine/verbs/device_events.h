#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/base/result.h"
#include "engine/verbs/device.h"

namespace corail {

enum class DeviceEventKind : std::uint8_t {
  kPortActive,
  kPortDown,
  kGidChange,
  kFatal,  // the device, or the completion queue, is of no use any more
  kOther   // told by other means, or of no consequence here
};

/// Something that a device tells unasked. A value.
struct DeviceEvent {
  DeviceEventKind kind = DeviceEventKind::kOther;
  std::uint8_t port = 0;  // of all events above kFatal
  std::string what;       // for people
};

/// The events of an open device, of all its ports: whoever reads them leaves out those of others.
/// Devices repeat themselves. One thread at a time.
class DeviceEvents {
 public:
  /// Makes the device's descriptor non-blocking. One reader for each open device.
  static Result<std::unique_ptr<DeviceEvents>> make(std::shared_ptr<const Device> device);

  /// Becomes readable once there is an event; owned by the device.
  int descriptor() const noexcept;

  /// The next one, acknowledged, which destroying what it is about would wait for; nothing where
  /// none is there. A device whose events cannot be read is gone: kFatal, each time.
  std::optional<DeviceEvent> take() const;

 private:
  explicit DeviceEvents(std::shared_ptr<const Device> device) : device_(std::move(device)) {}

  const std::shared_ptr<const Device> device_;
};

}  // namespace corail
