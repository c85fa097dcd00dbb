#pragma once

#include <asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/units.h"
#include "engine/exec/executor.h"
#include "engine/memory/slab.h"
#include "engine/rail/verbs/verbs_port.h"
#include "engine/rail/verbs/verbs_rail_door.h"
#include "engine/rail/verbs/verbs_transport.h"
#include "test/rail/run_task.h"
#include "test/support/outcome_sink.h"

namespace corail::test {

inline constexpr std::uint64_t kHeldBytes = 8 * kMiB;
inline constexpr SessionId kSession{3};
inline constexpr ReadContext kRead{ReadId(11), EpochNumber(1)};

/// A door and rails to it on one real device, all on this thread's io_context. What a device sends
/// to itself goes the whole way through the kernel's verbs.
struct DeviceRig {
  explicit DeviceRig(std::string device, std::uint64_t max_region_bytes = 0);
  ~DeviceRig();

  /// A rail that is connected.
  std::unique_ptr<VerbsTransport> connected();
  Result<void> try_connect(VerbsTransport& rail);
  void close(std::unique_ptr<VerbsTransport> rail);
  Result<void> fence(VerbsTransport& rail, SliceSink& sink, Duration time);
  void run(Task<void> task) { run_task(context, std::move(task)); }
  /// Runs handlers for so long, whatever happens.
  void run_for(Duration time);

  /// Slices of `length` bytes that cover [0, bytes), landing at the same offsets.
  std::vector<Slice> slices(std::uint64_t bytes, std::uint64_t length) const;
  /// Whether [0, bytes) of the landing place is what is held there.
  bool landed(std::uint64_t bytes) const;
  /// Overwrites where reads land, as its next owner does.
  void fill(std::byte with);
  /// Bytes that are no longer what fill() wrote.
  std::uint64_t changed(std::byte with) const;

  asio::io_context context;
  SteadyClock clock;
  Executor executor{"device", context};
  std::shared_ptr<VerbsPort> port;
  std::unique_ptr<Slab> held;
  std::unique_ptr<Slab> memory;  // in which reads land
  std::unique_ptr<VerbsRailDoor> door;
  RailEndpoint endpoint;
};

/// A slab of kHeldBytes that the port's device knows.
std::unique_ptr<Slab> registered_slab(const VerbsPort& port, MemoryUse use);

}  // namespace corail::test
