#pragma once

#include <memory>

#include "engine/base/result.h"
#include "engine/verbs/device.h"

struct ibv_pd;

namespace corail {

/// Keys and queue pairs work together only within one. Owned by all of those, which go first: each
/// shares it, and it shares the device. Immutable; any thread.
class ProtectionDomain {
 public:
  static Result<std::shared_ptr<const ProtectionDomain>> make(std::shared_ptr<const Device> device);
  ~ProtectionDomain();
  ProtectionDomain(const ProtectionDomain&) = delete;
  ProtectionDomain& operator=(const ProtectionDomain&) = delete;

  const Device& device() const noexcept { return *device_; }
  ibv_pd* handle() const noexcept { return pd_; }

 private:
  ProtectionDomain(std::shared_ptr<const Device> device, ibv_pd* pd)
      : device_(std::move(device)), pd_(pd) {}

  const std::shared_ptr<const Device> device_;
  ibv_pd* const pd_;
};

}  // namespace corail
