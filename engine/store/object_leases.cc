#include "engine/store/object_leases.h"

#include <fmt/core.h>

#include <algorithm>

namespace corail::detail {

Result<LeaseId> ObjectLeases::grant(std::shared_ptr<StoredObject> object, Duration ttl) {
  if (leases_.size() >= most_) {
    return Error(
        Errc::kQuotaExceeded,
        fmt::format("{} leases on objects live already; release some, or raise max_leases", most_));
  }
  const std::uint64_t counter = next_counter_++;
  Lease& lease = leases_[counter];
  ++object->users;
  lease.object = std::move(object);
  lease.expires = clock_.now() + ttl;
  lease.timer = clock_.make_timer(executor_);
  arm(counter, lease);
  return LeaseId{boot_, counter};
}

Result<std::shared_ptr<StoredObject>> ObjectLeases::find(LeaseId id) {
  auto lease = find_live(id);
  if (!lease) return std::move(lease).error();
  return (*lease)->object;
}

Result<void> ObjectLeases::renew(LeaseId id, Duration ttl) {
  auto lease = find_live(id);
  if (!lease) return std::move(lease).error();
  // The timer that is armed finds that it is early, and waits on.
  (*lease)->expires = std::max((*lease)->expires, clock_.now() + ttl);
  return ok_result();
}

void ObjectLeases::release(LeaseId id) {
  if (id.boot == boot_) end(id.counter);
}

void ObjectLeases::release_all() {
  while (!leases_.empty()) end(leases_.begin()->first);
}

Result<ObjectLeases::Lease*> ObjectLeases::find_live(LeaseId id) {
  if (id.boot != boot_ || id.counter >= next_counter_) {
    return Error(Errc::kNotFound, "this store gave no such lease since it was started");
  }
  const auto found = leases_.find(id.counter);
  // The clock decides, also when the timer is late (I9).
  if (found != leases_.end() && clock_.now() < found->second.expires) return &found->second;
  if (found != leases_.end()) {
    ++lapsed_;
    end(id.counter);
  }
  return Error(Errc::kLeaseExpired, "the lease on the object has lapsed, or was released");
}

void ObjectLeases::arm(std::uint64_t counter, Lease& lease) {
  lease.timer->wait_until(lease.expires, [this, counter](bool expired) {
    const auto found = leases_.find(counter);
    if (!expired || found == leases_.end()) return;
    if (clock_.now() < found->second.expires) return arm(counter, found->second);
    ++lapsed_;
    end(counter);
  });
}

void ObjectLeases::end(std::uint64_t counter) {
  const auto found = leases_.find(counter);
  if (found == leases_.end()) return;
  const std::shared_ptr<StoredObject> object = std::move(found->second.object);
  leases_.erase(found);
  --object->users;
  ended_(object);
}

}  // namespace corail::detail
