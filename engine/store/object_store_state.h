#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/credits.h"
#include "engine/exec/event.h"
#include "engine/exec/task.h"
#include "engine/exec/task_scope.h"
#include "engine/store/object_leases.h"
#include "engine/store/object_medium.h"
#include "engine/store/object_store_types.h"
#include "engine/store/open_put.h"

namespace corail::detail {

/// Generations are reserved on the medium so many at a time: those that are not used when a store
/// stops are never used.
inline constexpr std::uint64_t kGenerationBatch = 1024;
/// Operations that wait for their turn to change a manifest, at most; more are kBusy.
inline constexpr std::size_t kMaxTurnWaiters = 4096;
/// Failed commits of one key that a restart might find, at most; then the key takes no more puts
/// until it is deleted, or a commit that still runs succeeds.
inline constexpr std::size_t kMaxInDoubt = 8;

/// What ObjectStore promises, member by member; it only keeps cancellation away.
class ObjectStoreState {
 public:
  ObjectStoreState(ObjectStoreOptions options, std::unique_ptr<ObjectMedium> medium, Clock& clock,
                   asio::any_io_executor executor, BootId boot);
  ~ObjectStoreState();

  Task<Result<RecoveryReport>> start();
  Task<void> close();

  Task<Result<ObjectGeneration>> begin_put(PutRequest request);
  Task<Result<void>> write(ObjectGeneration put, std::uint32_t stripe, std::uint64_t offset,
                           std::span<const std::byte> bytes);
  Task<Result<std::shared_ptr<const StripingInfo>>> commit_put(ObjectGeneration put);
  Task<Result<void>> abort_put(ObjectGeneration put);
  Task<Result<ObjectGeneration>> erase(std::string key,
                                       std::optional<ObjectGeneration> if_generation);

  Result<std::shared_ptr<StoredObject>> find(std::string_view key) const;
  std::vector<ObjectSummary> list(std::string_view prefix, std::string_view after,
                                  std::size_t most) const;
  Result<ObjectLease> lease(std::string_view key, std::optional<ObjectGeneration> if_generation,
                            Duration ttl);
  Result<Duration> renew(LeaseId lease, Duration ttl);
  ObjectLeases& leases() noexcept { return leases_; }
  Task<Result<void>> read(LeaseId lease, std::uint32_t stripe, std::uint64_t offset,
                          std::span<std::byte> into, ReadCheck check);
  Result<ObjectPlaces> places(LeaseId lease);
  Result<PinnedBytes> pin(LeaseId lease, std::uint64_t offset, std::uint64_t length);
  ObjectStoreStats stats() const;

 private:
  struct Entry {
    std::shared_ptr<StoredObject> live;  // null: only commits in doubt
    /// Of failed commits whose manifest a restart might find: their bytes must stay until another
    /// manifest of the key, or none, is certainly in its place.
    std::vector<std::shared_ptr<StripeSet>> in_doubt;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;
  using Put = std::shared_ptr<OpenPut>;

  /// One operation that close() waits for.
  class Running;
  /// Manifests and generations change one after the other.
  class Turn;

  static Error missing(std::string_view key);
  Result<void> check_open() const;
  Result<Put> find_put(ObjectGeneration generation) const;
  /// Whether the key's generation is the one that was asked for, if any was.
  Result<void> check_generation(std::string_view key,
                                std::optional<ObjectGeneration> expected) const;
  /// Whether one more put, of this key, may begin.
  Result<void> check_room(const std::string& key) const;
  Task<Result<ObjectGeneration>> next_generation();
  Task<Result<void>> install(Put put, std::shared_ptr<const StripingInfo> info);
  void make_current(Entry& entry, std::shared_ptr<StoredObject> object);
  void retire(const std::shared_ptr<StoredObject>& object);
  void forget_if_unused(const std::shared_ptr<StoredObject>& object);
  void end_put(const Put& put);
  void watch_put(const Put& put);
  void remove_later(std::shared_ptr<StripeSet> stripes);
  Duration ttl_of(Duration asked) const;

  const ObjectStoreOptions options_;
  const std::unique_ptr<ObjectMedium> medium_;
  Clock& clock_;
  const asio::any_io_executor executor_;
  TaskScope removals_;
  Credits turn_;
  ObjectLeases leases_;
  Entries entries_;
  std::unordered_map<ObjectGeneration, Put> puts_;
  std::uint64_t next_generation_ = 1;
  std::uint64_t reserved_generation_ = 1;  // this one and later ones are not reserved
  std::size_t superseded_ = 0;
  std::size_t running_ = 0;
  Event none_running_;
  bool closed_ = true;  // until it has started
};

}  // namespace corail::detail
