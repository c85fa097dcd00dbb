#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "engine/exec/executor.h"
#include "engine/memory/memory_registrar.h"
#include "engine/rail/verbs/verbs_port.h"
#include "engine/rail/verbs/verbs_rail_door.h"
#include "engine/rail/verbs/verbs_transport.h"
#include "test/rail/run_task.h"
#include "test/support/outcome_sink.h"
#include "test/verbs/scripted_verbs.h"

namespace corail::test {

inline constexpr std::uint64_t kKi = 1024;
inline constexpr SessionId kSession{3};
inline constexpr ReadContext kRead{ReadId(11), EpochNumber(1)};

/// A door and rails to it on one scripted port, all on this thread's io_context.
struct VerbsRig {
  static constexpr std::size_t kBytes = 64 * 1024;

  explicit VerbsRig(std::uint64_t max_region_bytes = 0);
  using Shape = std::function<void(ScriptedVerbs::FakeDevice&)>;
  /// On the one device that there is, whatever the options say; `shape` makes it another one.
  explicit VerbsRig(VerbsOptions options, const Shape& shape = {});
  /// One whose long calls are made elsewhere. Rails and sessions must be gone before the rig.
  explicit VerbsRig(const asio::any_io_executor& control);
  ~VerbsRig();

  /// A rail that is not connected.
  std::unique_ptr<VerbsTransport> make_rail();
  /// One that is.
  std::unique_ptr<VerbsTransport> connected();
  /// One that is, of another session, which is admitted for it.
  std::unique_ptr<VerbsTransport> connected(SessionId session);
  /// What rails of this new session connect to.
  RailEndpoint admit(SessionId session);
  void run(Task<void> task) { run_task(context, std::move(task)); }
  /// Runs handlers until the condition holds.
  template <typename Condition>
  void run_until(Condition condition) {
    context.restart();
    while (!condition()) context.run_one();
  }

  /// Slices of `length` bytes that cover [from, to) of the region, landing at the same offsets.
  std::vector<Slice> slices(std::uint64_t from, std::uint64_t to, std::uint64_t length) const;
  /// Whether [from, to) of the landing place is what is held there.
  bool landed(std::size_t from, std::size_t to) const;
  /// Queue pairs of rails, the oldest first.
  std::vector<ScriptedVerbs::FakePair*> asking();
  /// Queue pairs of the door, likewise.
  std::vector<ScriptedVerbs::FakePair*> serving();
  std::size_t posted();
  TimePoint soon() const { return clock.now() + std::chrono::seconds(60); }

  /// Open at the end, and closed in this order.
  ScriptedVerbs machine;
  asio::io_context context;
  SteadyClock clock;
  Executor executor{"test", context};
  std::shared_ptr<VerbsPort> port;
  std::vector<std::byte> held;
  std::vector<std::byte> memory;  // in which reads land
  std::unique_ptr<const MemoryRegistration> served;
  std::unique_ptr<const MemoryRegistration> landing;
  std::unique_ptr<VerbsRailDoor> door;
  RailEndpoint endpoint;
  /// The device will not destroy something, so that not everything can be gone at the end.
  bool keeps_for_ever = false;

 private:
  VerbsRig(VerbsOptions options, const Shape& shape, const asio::any_io_executor* control);
};

/// Closes the rail, and checks that it leaves nothing behind.
void close_rail(VerbsRig& rig, std::unique_ptr<VerbsTransport> rail);

/// Executes whatever is posted, until the sink has so many outcomes.
void run_device_until(VerbsRig& rig, const OutcomeSink& sink, std::size_t count);

}  // namespace corail::test
