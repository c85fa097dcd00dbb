#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "engine/base/clock.h"
#include "engine/base/ids.h"
#include "engine/base/result.h"
#include "engine/base/units.h"
#include "engine/memory/pin.h"
#include "engine/store/object_store.h"

namespace corail {

namespace detail {
class LeaseTable;
class LeasedObject;
}  // namespace detail

struct ObjectGateOptions {
  std::uint32_t max_leases_per_requester = 64;
  // Of the objects that leases keep, in bytes; one that two leases keep counts twice.
  std::uint64_t max_leased_bytes_per_requester = 1024 * kGiB;
  std::uint32_t max_ended_reads_per_requester = 1024;   // remembered lapses and tombstones
  Duration ended_read_ttl = std::chrono::seconds(120);  // how long an ended read is remembered
};

/// What a reader wants to know when it confirms.
enum class Freshness {
  kCurrent,  // the leased generation must still be the key's
  kSnapshot  // the leased one will do
};

/// What a read of an object may read from now on.
struct OpenedObject {
  Duration ttl{};
  std::shared_ptr<const StripingInfo> info;
  ObjectPlaces places;
};

/// The leases of requesters on the objects of a store, by session and read: who may read which
/// bytes until when. The store itself knows no sessions.
///
/// Owned by the node. Clock and store must outlive it, and the store must be open while it is used.
/// admit() on any thread; everything else, destruction too, on the store's executor. Nothing may be
/// called for a session after drop_session() of it. Reads, keys and ranges are remote input (I5).
/// Errors not told otherwise: kLeaseExpired (the lease lapsed, and stays so, I9), kNotFound (there
/// is none, or it ended).
class ObjectGate {
 public:
  /// The executor is the store's.
  ObjectGate(ObjectStore& store, const ObjectGateOptions& options, Clock& clock,
             asio::any_io_executor executor);
  ObjectGate(const ObjectGate&) = delete;
  ObjectGate& operator=(const ObjectGate&) = delete;
  ~ObjectGate();

  /// A lease on the key's present generation, for `ttl` (0: the store's default; capped). As
  /// ObjectStore::lease(), and kQuotaExceeded (of this requester), kCancelled (the read was
  /// released before), kInvalidArgument (it has a lease).
  Result<OpenedObject> open(SessionId session, ReadId read, std::string_view key,
                            std::optional<ObjectGeneration> if_generation, Freshness freshness,
                            Duration ttl);
  /// From now on, and no less than it was; returns how long.
  Result<Duration> renew(SessionId session, ReadId read, Duration ttl);
  /// Success means that the lease has not lapsed up to now (I9), and with kCurrent that the
  /// generation is still the key's, else kGenerationChanged. The lease goes on.
  Result<void> confirm(SessionId session, ReadId read);
  /// The same, and the lease ends, whatever the answer.
  Result<void> confirm_and_release(SessionId session, ReadId read);
  /// Idempotent; may overtake open(), which is refused then.
  void release(SessionId session, ReadId read);
  /// Nothing more is admitted for the read; its lease goes on. May overtake open(), too.
  void quiesce(SessionId session, ReadId read);
  void drop_session(SessionId session);

  /// Whether the read is one of an object, as far as is remembered: it has a lease here, had one,
  /// or was released. A node that serves blocks, too, asks this for whose read it is, and tells
  /// both of a release of a read that neither knows.
  bool knows(SessionId session, ReadId read) const;
  /// The store's lease behind a read that is not quiesced, for ObjectStore::read() and pin().
  /// kLeaseExpired, kRefused.
  Result<LeaseId> lease_of(SessionId session, ReadId read) const;

  /// The bytes, pinned (I6), if all of the range lies inside one stripe of a live lease: what a
  /// LeaseGate promises. kLeaseExpired, kRefused (never leased, released or quiesced).
  Result<PinnedBytes> admit(SessionId session, ReadId read, RegionId region, std::uint64_t offset,
                            std::uint64_t length) const;

 private:
  Result<std::shared_ptr<const detail::LeasedObject>> find(SessionId session, ReadId read) const;

  ObjectStore& store_;
  const std::unique_ptr<detail::LeaseTable> leases_;
};

}  // namespace corail
