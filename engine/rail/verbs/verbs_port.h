#pragma once

#include <asio/any_io_executor.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/base/result.h"
#include "engine/exec/executor.h"
#include "engine/exec/op_table.h"
#include "engine/exec/poller.h"
#include "engine/rail/health.h"
#include "engine/rail/verbs/greeting.h"
#include "engine/rail/verbs/verbs_memory.h"
#include "engine/rail/verbs/verbs_options.h"
#include "engine/rail/verbs/verbs_request.h"
#include "engine/verbs/completion_queue.h"
#include "engine/verbs/device.h"
#include "engine/verbs/device_events.h"
#include "engine/verbs/path_choice.h"
#include "engine/verbs/queue_pair.h"

namespace corail {

/// What a port is now: what it says to the other end, and where the GID in it is found here. A
/// value.
struct LocalEnd {
  Greeting greeting;  // without queue pairs
  std::uint32_t gid_index = 0;
};

/// What all verbs rails and the door of one local port share: the device, its completion queue and
/// the table of what is posted. Polled by the port's executor.
///
/// Shared by the port's device, transports and door. Only the device calls shut(), when the others
/// are closed; what a rail that got stuck keeps for ever then refers to no executor any more. All
/// members on the executor's thread, but for open(), memory(), make_pair() and the constants.
class VerbsPort final : private Poller {
 public:
  /// Called where Executor::add_poller may be. `control` makes the calls that may take long
  /// (control_calls.h), several at a time; it must run until the port's transports and door are
  /// closed. Fails with what the device says, and with kInvalidArgument for a port or GID that does
  /// not exist. A port that is down is no failure: it may come up.
  static Result<std::shared_ptr<VerbsPort>> open(const VerbsApi& api, Executor& executor,
                                                 asio::any_io_executor control,
                                                 VerbsOptions options);
  ~VerbsPort() override;
  VerbsPort(const VerbsPort&) = delete;
  VerbsPort& operator=(const VerbsPort&) = delete;

  /// Lets go of the executor, which ends next: nothing is polled any more. Called where
  /// Executor::remove_poller may be. Idempotent.
  void shut();

  asio::any_io_executor asio_executor() { return executor_.asio_executor(); }
  const asio::any_io_executor& control_executor() const noexcept { return control_; }
  const VerbsOptions& options() const noexcept { return options_; }
  const std::string& name() const noexcept { return name_; }        // "rxe0:1"
  const std::string& address() const noexcept { return address_; }  // as last described, for people
  const std::shared_ptr<VerbsMemory>& memory() const noexcept { return memory_; }
  /// What the device has told of the port.
  const std::shared_ptr<PortHealth>& health() const noexcept { return health_; }
  const QueueSizes& sizes() const noexcept { return sizes_; }
  std::uint64_t max_slice_bytes() const noexcept { return max_slice_bytes_; }

  /// Why the device is of no use any more; nothing: it is.
  const std::optional<Error>& fault() const noexcept { return broken_; }

  /// Asks the device anew, because GIDs come and go with a network interface's addresses. Fails
  /// where the port is down.
  Result<LocalEnd> describe();
  /// Larger than every number that was given out before, by this port or another.
  std::uint64_t next_generation() noexcept;
  std::uint32_t random_psn() { return static_cast<std::uint32_t>(random_.next() >> 40); }

  Result<std::unique_ptr<QueuePair>> make_pair(PeerMay peer_may) const;

  void add_owner(CompletionOwner& owner);
  /// Its requests must have ended.
  void remove_owner(CompletionOwner& owner) noexcept;

  /// The requests that are posted, over all rails. A request's key is what its completion brings.
  OpTable<VerbsRequest>& requests() noexcept { return requests_; }
  /// Takes one out of the table.
  void release(OpKey key) noexcept;
  /// deliver() is called once there is room in the table again.
  void wait_for_room(CompletionOwner& owner);

  /// Takes what is in the queue now, because a queue pair of `owner` was destroyed and its last
  /// completions must not be met later. Does not deliver.
  void drain() noexcept;

  /// Completions of requests that nobody knew. For tests and reports.
  std::uint64_t stale_completions() const noexcept { return stale_; }

 private:
  VerbsPort(Executor& executor, asio::any_io_executor control, VerbsOptions options,
            std::shared_ptr<const Device> device, std::shared_ptr<const ProtectionDomain> pd,
            std::unique_ptr<CompletionQueue> completions,
            std::unique_ptr<const DeviceEvents> device_events, GidEntry gid,
            const PortFacts& facts);

  std::size_t poll() override;
  bool arm() override;
  void disarm() override {}

  void wait_for_device();
  void take_device_events();
  void gids_changed();
  std::size_t take_batch() noexcept;
  void broken(const Error& why) noexcept;

  Executor& executor_;
  const asio::any_io_executor control_;
  const VerbsOptions options_;
  const std::shared_ptr<const Device> device_;
  const std::shared_ptr<const ProtectionDomain> pd_;
  const std::unique_ptr<CompletionQueue> completions_;
  const std::unique_ptr<const DeviceEvents> device_events_;
  GidEntry gid_;  // as last described
  const std::uint64_t id_;
  const std::string name_;
  std::string address_;
  const QueueSizes sizes_;
  const std::uint64_t max_slice_bytes_;
  const std::shared_ptr<VerbsMemory> memory_;
  const std::shared_ptr<PortHealth> health_ = std::make_shared<PortHealth>();
  SeededRandom random_;
  OpTable<VerbsRequest> requests_;
  std::vector<CompletionOwner*> owners_;
  std::vector<CompletionOwner*> to_deliver_;  // of the batch that was taken last
  std::vector<CompletionOwner*> starved_;     // for room in the table
  std::optional<Error> broken_;
  std::uint64_t stale_ = 0;
  bool waiting_ = false;  // for the channel's descriptor
  /// Makes a wake-up that is on its way find out that the port is gone.
  const std::shared_ptr<VerbsPort*> self_;
  /// Of the completion queue, which closes it; none once shut.
  std::optional<asio::posix::stream_descriptor> events_;
  /// Of the device, likewise.
  std::optional<asio::posix::stream_descriptor> device_descriptor_;
};

}  // namespace corail
