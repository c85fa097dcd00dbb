#include "engine/store/object_store.h"

#include <fmt/core.h>

#include <utility>

#include "engine/exec/shielded.h"
#include "engine/store/object_store_state.h"

namespace corail {

ObjectStore::ObjectStore(ObjectStoreOptions options, std::unique_ptr<ObjectMedium> medium,
                         Clock& clock, asio::any_io_executor executor, BootId boot)
    : state_(std::make_unique<detail::ObjectStoreState>(std::move(options), std::move(medium),
                                                        clock, std::move(executor), boot)) {}

ObjectStore::~ObjectStore() = default;

Task<Result<RecoveryReport>> ObjectStore::start() { return shielded(state_->start()); }

Task<void> ObjectStore::close() { return shielded(state_->close()); }

Task<Result<ObjectGeneration>> ObjectStore::begin_put(PutRequest request) {
  return shielded(state_->begin_put(std::move(request)));
}

Task<Result<void>> ObjectStore::write(ObjectGeneration put, std::uint32_t stripe,
                                      std::uint64_t offset, std::span<const std::byte> bytes) {
  return shielded(state_->write(put, stripe, offset, bytes));
}

Task<Result<std::shared_ptr<const StripingInfo>>> ObjectStore::commit_put(ObjectGeneration put) {
  return shielded(state_->commit_put(put));
}

Task<Result<void>> ObjectStore::abort_put(ObjectGeneration put) {
  return shielded(state_->abort_put(put));
}

Task<Result<ObjectGeneration>> ObjectStore::erase(std::string key,
                                                  std::optional<ObjectGeneration> if_generation) {
  return shielded(state_->erase(std::move(key), if_generation));
}

Result<std::shared_ptr<const StripingInfo>> ObjectStore::lookup(std::string_view key) const {
  const auto found = state_->find(key);
  if (!found) return found.error();
  return (*found)->info;
}

std::vector<ObjectSummary> ObjectStore::list(std::string_view prefix, std::string_view after,
                                             std::size_t most) const {
  return state_->list(prefix, after, most);
}

Result<ObjectLease> ObjectStore::lease(std::string_view key,
                                       std::optional<ObjectGeneration> if_generation,
                                       Duration ttl) {
  return state_->lease(key, if_generation, ttl);
}

Result<Duration> ObjectStore::renew(LeaseId lease, Duration ttl) {
  return state_->renew(lease, ttl);
}

Result<bool> ObjectStore::confirm(LeaseId lease) {
  const auto object = state_->leases().find(lease);
  if (!object) return object.error();
  return (*object)->current;
}

void ObjectStore::release(LeaseId lease) { state_->leases().release(lease); }

Task<Result<void>> ObjectStore::read(LeaseId lease, std::uint32_t stripe, std::uint64_t offset,
                                     std::span<std::byte> into, ReadCheck check) {
  return shielded(state_->read(lease, stripe, offset, into, check));
}

Result<ObjectPlaces> ObjectStore::places(LeaseId lease) { return state_->places(lease); }

Result<PinnedBytes> ObjectStore::pin(LeaseId lease, std::uint64_t offset, std::uint64_t length) {
  return state_->pin(lease, offset, length);
}

ObjectStoreStats ObjectStore::stats() const { return state_->stats(); }

}  // namespace corail
