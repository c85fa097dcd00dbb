#include "engine/store/object_gate.h"

#include <fmt/core.h>

#include <utility>

#include "engine/store/lease_table.h"
#include "engine/store/leased_object.h"

namespace corail {
namespace {

using detail::LeasedObject;

StoreOptions table_options(const ObjectGateOptions& options) {
  StoreOptions table;
  table.max_leases_per_requester = options.max_leases_per_requester;
  table.max_leased_bytes_per_requester = options.max_leased_bytes_per_requester;
  table.max_ended_reads_per_requester = options.max_ended_reads_per_requester;
  table.ended_read_ttl = options.ended_read_ttl;
  return table;
}

/// Gives the store's lease back when a requester's ends.
class HeldLease {
 public:
  HeldLease(ObjectStore& store, LeaseId lease) : store_(store), lease_(lease) {}
  HeldLease(const HeldLease&) = delete;
  HeldLease& operator=(const HeldLease&) = delete;
  ~HeldLease() { store_.release(lease_); }

 private:
  ObjectStore& store_;
  const LeaseId lease_;
};

}  // namespace

// The table's lease ids are told to nobody: requesters name their reads.
ObjectGate::ObjectGate(ObjectStore& store, const ObjectGateOptions& options, Clock& clock,
                       asio::any_io_executor executor)
    : store_(store),
      leases_(std::make_unique<detail::LeaseTable>(table_options(options), clock,
                                                   std::move(executor), BootId())) {}

ObjectGate::~ObjectGate() = default;

Result<OpenedObject> ObjectGate::open(SessionId session, ReadId read, std::string_view key,
                                      std::optional<ObjectGeneration> if_generation,
                                      Freshness freshness, Duration ttl) {
  if (auto may = leases_->may_grant(session, read); !may) return std::move(may).error();
  auto lease = store_.lease(key, if_generation, ttl);
  if (!lease) return std::move(lease).error();
  auto held = std::make_shared<const HeldLease>(store_, lease->id);
  const std::uint64_t bytes = lease->info->object.size;
  if (auto may = leases_->may_hold(session, bytes); !may) return std::move(may).error();
  auto places = store_.places(lease->id);
  if (!places) return std::move(places).error();
  const bool must_be_current = freshness == Freshness::kCurrent;
  auto leased = std::make_shared<const LeasedObject>(lease->id, must_be_current, places->stripes);
  leases_->grant(session, read, std::move(leased), bytes, lease->ttl, std::move(held));
  return OpenedObject{lease->ttl, std::move(lease->info), std::move(*places)};
}

Result<std::shared_ptr<const LeasedObject>> ObjectGate::find(SessionId session, ReadId read) const {
  auto bytes = leases_->live_bytes(session, read);
  if (!bytes) return std::move(bytes).error();
  // The table has what open() gave it.
  return std::static_pointer_cast<const LeasedObject>(std::move(*bytes));
}

Result<Duration> ObjectGate::renew(SessionId session, ReadId read, Duration ttl) {
  auto confirmed = leases_->confirm(session, read);
  if (!confirmed) return std::move(confirmed).error();
  const auto object = find(session, read);
  if (!object) return object.error();
  const auto renewed = store_.renew((*object)->lease(), ttl);
  if (!renewed) return renewed.error();
  return leases_->renew(session, read, *renewed);
}

Result<void> ObjectGate::confirm(SessionId session, ReadId read) {
  if (auto confirmed = leases_->confirm(session, read); !confirmed) return confirmed;
  const auto object = find(session, read);
  if (!object) return object.error();
  // The store's own word, too: its lease is the one that keeps the bytes (I9).
  const auto current = store_.confirm((*object)->lease());
  if (!current) return current.error();
  if (*current || !(*object)->must_be_current()) return ok_result();
  return Error(Errc::kGenerationChanged, Stage::kConfirm,
               fmt::format("the object that read {} reads was replaced or deleted meanwhile; read "
                           "it again, or read snapshots",
                           read.value()));
}

Result<void> ObjectGate::confirm_and_release(SessionId session, ReadId read) {
  auto confirmed = confirm(session, read);
  release(session, read);
  return confirmed;
}

void ObjectGate::release(SessionId session, ReadId read) { leases_->release(session, read); }
void ObjectGate::quiesce(SessionId session, ReadId read) { leases_->quiesce(session, read); }
void ObjectGate::drop_session(SessionId session) { leases_->drop_session(session); }

bool ObjectGate::knows(SessionId session, ReadId read) const {
  return leases_->knows(session, read);
}

Result<LeaseId> ObjectGate::lease_of(SessionId session, ReadId read) const {
  const auto object = find(session, read);
  if (!object) return object.error();
  return (*object)->lease();
}

Result<PinnedBytes> ObjectGate::admit(SessionId session, ReadId read, RegionId region,
                                      std::uint64_t offset, std::uint64_t length) const {
  return leases_->admit(session, read, region, offset, length);
}

}  // namespace corail
