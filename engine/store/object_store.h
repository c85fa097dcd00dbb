#pragma once

#include <asio/any_io_executor.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/exec/task.h"
#include "engine/memory/pin.h"
#include "engine/store/object_medium.h"
#include "engine/store/object_store_types.h"

namespace corail {

namespace detail {
class ObjectStoreState;
}

/// The objects of one node: puts in two phases, generations, leases, and reads of ranges.
///
/// Owned by the node, used on the executor only; clock and medium's own arguments must outlive it.
/// start() must have succeeded before anything else is called, and close() must have returned
/// before it is destroyed. Disks are waited for by coroutines, never by the executor's thread.
/// What a caller's cancellation interrupts is nothing: each call goes through to its end. All fail
/// with kClosed after close(), besides what is said of each.
class ObjectStore {
 public:
  ObjectStore(ObjectStoreOptions options, std::unique_ptr<ObjectMedium> medium, Clock& clock,
              asio::any_io_executor executor, BootId boot);
  ObjectStore(const ObjectStore&) = delete;
  ObjectStore& operator=(const ObjectStore&) = delete;
  ~ObjectStore();

  /// Finds what the medium has. kStoreFailed, kBadManifest: it cannot be used at all.
  Task<Result<RecoveryReport>> start();
  /// Aborts open puts, ends leases, and waits for what still runs. Once.
  Task<void> close();

  /// Begins a put, under a generation that was never used before, also in an earlier life of the
  /// store; it names the put from here on. Nobody sees anything of it before it is committed.
  /// kInvalidArgument, kTooLarge (sizes), kGenerationChanged (if_generation does not hold),
  /// kQuotaExceeded (objects, open puts), kStoreFull, kStoreFailed, kOutOfMemory.
  Task<Result<ObjectGeneration>> begin_put(PutRequest request);
  /// Writes whole granules of a stripe; `offset` and sizes in bytes within the stripe. Any order,
  /// several at a time, each byte once. `bytes` must live until this returns. kInvalidArgument (no
  /// such range, written before), kNotFound (no such put: it was aborted, or expired), kCancelled
  /// (it was meanwhile). After kStoreFull and kStoreFailed the put can only be aborted.
  Task<Result<void>> write(ObjectGeneration put, std::uint32_t stripe, std::uint64_t offset,
                           std::span<const std::byte> bytes);
  /// Makes the put the key's generation: when this succeeded it survives a crash, and its
  /// predecessor goes when the last lease lets go. kByteCountMismatch and kInvalidArgument (bytes
  /// are missing, or being written) leave the put open. Everything else ends it, and the
  /// predecessor stays: kGenerationChanged (if_generation does not hold, or a put that began later
  /// was committed), kStoreFull, kStoreFailed; after the latter a restart may find either.
  Task<Result<std::shared_ptr<const StripingInfo>>> commit_put(ObjectGeneration put);
  /// kNotFound: no such put. kBusy: it is being committed, and goes its way.
  Task<Result<void>> abort_put(ObjectGeneration put);

  /// Deletes the key; its bytes go when the last lease lets go. The generation that was deleted, or
  /// kNotFound, kGenerationChanged (it is not `if_generation`), kStoreFailed (it stays readable; a
  /// restart may find it, or not).
  Task<Result<ObjectGeneration>> erase(std::string key,
                                       std::optional<ObjectGeneration> if_generation);

  /// The key's present generation, or kNotFound.
  Result<std::shared_ptr<const StripingInfo>> lookup(std::string_view key) const;
  /// The keys with this prefix that are greater than `after` (empty: from the first on), in order,
  /// at most `most`.
  std::vector<ObjectSummary> list(std::string_view prefix, std::string_view after,
                                  std::size_t most) const;

  /// Keeps the key's present generation readable for `ttl` (0: the default; capped).
  /// kGenerationChanged: it is not `if_generation`. kNotFound, kQuotaExceeded.
  Result<ObjectLease> lease(std::string_view key, std::optional<ObjectGeneration> if_generation,
                            Duration ttl);
  /// From now on, and no less than it was; returns how long. kLeaseExpired: it lapsed and stays so
  /// (I9), or was released. kNotFound: not of this store's life.
  Result<Duration> renew(LeaseId lease, Duration ttl);
  /// Success means that the lease has not lapsed up to now (I9); true that its generation is still
  /// the key's. As renew().
  Result<bool> confirm(LeaseId lease);
  /// Idempotent.
  void release(LeaseId lease);

  /// Fills `into` from a leased generation: bytes from `offset` of a stripe on. With kVerify these
  /// are whole granules, as in write(), and kChecksumMismatch says which one is corrupt and where.
  /// `into` must live until this returns, and is unspecified after a failure. A lease that lapses
  /// meanwhile does not matter: the bytes are kept until this returns (I6). kInvalidArgument,
  /// kStoreFailed, kStripeLost, and as renew().
  Task<Result<void>> read(LeaseId lease, std::uint32_t stripe, std::uint64_t offset,
                          std::span<std::byte> into, ReadCheck check);

  /// Where the leased generation's stripes lie, each with a pin of its own. As renew().
  Result<ObjectPlaces> places(LeaseId lease);
  /// Bytes of a leased generation in memory, from `offset` of the object on and within one stripe;
  /// empty, without a pin, where it is on directories. The pin may outlive the lease (I6).
  /// kInvalidArgument, and as renew().
  Result<PinnedBytes> pin(LeaseId lease, std::uint64_t offset, std::uint64_t length);

  ObjectStoreStats stats() const;

 private:
  std::unique_ptr<detail::ObjectStoreState> state_;
};

}  // namespace corail
