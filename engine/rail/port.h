#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/executor.h"
#include "engine/rail/port_budget.h"
#include "engine/rail/port_device.h"
#include "engine/rail/rail_door.h"
#include "engine/rail/rail_spec.h"
#include "engine/rail/tcp/tcp_limits.h"
#include "engine/rail/transport.h"
#include "engine/rail/verbs/verbs_options.h"

namespace corail {

/// What all rails of a port have in common, whatever the transport.
struct PortOptions {
  std::uint32_t channels_per_rail = 2;
  Duration handshake_time = std::chrono::seconds(5);
  std::uint64_t send_buffer_bytes = kDefaultSendBufferBytes;  // see TcpOptions::send_buffer
  std::uint64_t budget_bytes = kDefaultPortBudgetBytes;       // see PortBudget; 0: no bound
  PathTuning path_tuning;                                     // of verbs rails
  std::optional<std::uint8_t> gid_index;                      // where a verbs spec names none
  std::uint64_t max_region_bytes = 0;                         // see VerbsOptions
  std::uint64_t seed = 0;                                     // see VerbsOptions
};

/// What a verbs port is made with: the spec's own words first.
VerbsOptions verbs_options_of(const VerbsRailSpec& spec, const PortOptions& options);

/// A local NIC port or address with the executor that its rails run on. make() knows which
/// transport a spec means: the only place above the transports that does.
///
/// Owned by the node, which keeps it until every transport and door made here is closed. The
/// executor outlives it. Immutable; any thread.
class Port {
 public:
  /// Fails with kUnknownName where this build has no such transport or this machine no such device,
  /// naming those there are. Called while the executor has no thread yet.
  static Result<std::unique_ptr<Port>> make(PortIndex index, RailSpec spec, Executor& executor,
                                            Clock& clock, PortOptions options);

  /// A port over a device that the caller has made for this executor; `name` is for people.
  static std::unique_ptr<Port> over(PortIndex index, std::string name, Executor& executor,
                                    Clock& clock, std::unique_ptr<PortDevice> device,
                                    std::uint64_t budget_bytes = kDefaultPortBudgetBytes);

  PortIndex index() const noexcept { return index_; }
  /// The spec in its canonical text, or the name that the device came with.
  const std::string& name() const noexcept { return name_; }
  /// What carries its rails, as in RailEndpoint::transport.
  std::string_view transport() const noexcept { return device_->transport(); }
  Executor& executor() const noexcept { return executor_; }
  Clock& clock() const noexcept { return clock_; }
  /// What its rails share; used on the executor only.
  const std::shared_ptr<PortBudget>& budget() const noexcept { return budget_; }

  /// See PortDevice::health; used on the executor only.
  std::shared_ptr<PortHealth> health() const { return device_->health(); }

  /// The requester's side of a new rail from this port.
  std::unique_ptr<Transport> make_transport() const { return device_->make_transport(); }
  /// The holder's side of this port. One per port.
  std::unique_ptr<RailDoor> make_door() const { return device_->make_door(); }
  /// See PortDevice::registrar.
  std::shared_ptr<MemoryRegistrar> registrar() const { return device_->registrar(); }

 private:
  Port(PortIndex index, std::string name, Executor& executor, Clock& clock,
       std::unique_ptr<PortDevice> device, std::uint64_t budget_bytes);

  const PortIndex index_;
  const std::string name_;
  Executor& executor_;
  Clock& clock_;
  const std::unique_ptr<const PortDevice> device_;
  const std::shared_ptr<PortBudget> budget_;
};

}  // namespace corail
