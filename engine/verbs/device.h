#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/result.h"
#include "engine/verbs/device_facts.h"

struct ibv_context;

namespace corail {

struct VerbsApi;

/// Names of the RDMA devices of this machine; none where the kernel has none.
std::vector<std::string> device_names(const VerbsApi& api);

/// An open RDMA device. Owned by whatever was made on it, which goes first: protection domains and
/// completion queues share it. Immutable; any thread.
class Device {
 public:
  /// Fails with kUnknownName, naming the devices that exist.
  static Result<std::shared_ptr<const Device>> open(const VerbsApi& api, std::string_view name);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const VerbsApi& api() const noexcept { return api_; }
  const std::string& name() const noexcept { return name_; }
  const DeviceLimits& limits() const noexcept { return limits_; }
  ibv_context* handle() const noexcept { return context_; }

  /// Fails with kInvalidArgument where the device has no such port.
  Result<PortFacts> port(std::uint8_t number) const;
  /// The port's valid GIDs, by index.
  Result<std::vector<GidEntry>> gids(std::uint8_t port) const;

 private:
  Device(const VerbsApi& api, std::string name, ibv_context* context)
      : api_(api), name_(std::move(name)), context_(context) {}

  const VerbsApi& api_;
  const std::string name_;
  ibv_context* const context_;
  DeviceLimits limits_;
};

}  // namespace corail
