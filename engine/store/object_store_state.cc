#include "engine/store/object_store_state.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/object/descriptor_check.h"
#include "engine/store/object_store_turn.h"

namespace corail::detail {

ObjectStoreState::ObjectStoreState(ObjectStoreOptions options, std::unique_ptr<ObjectMedium> medium,
                                   Clock& clock, asio::any_io_executor executor, BootId boot)
    : options_(std::move(options)),
      medium_(std::move(medium)),
      clock_(clock),
      executor_(std::move(executor)),
      removals_(executor_),
      turn_(executor_, 1, kMaxTurnWaiters),
      leases_(clock_, executor_, boot, options_.max_leases,
              [this](const std::shared_ptr<StoredObject>& object) { forget_if_unused(object); }),
      none_running_(executor_) {}

ObjectStoreState::~ObjectStoreState() {
  CORAIL_CHECK(closed_ && running_ == 0, "an ObjectStore was destroyed before it was closed");
}

Task<Result<RecoveryReport>> ObjectStoreState::start() {
  if (auto sound = check_self(); !sound) co_return std::move(sound).error();
  auto recovered = co_await medium_->recover();
  if (!recovered) co_return std::move(recovered).error();
  RecoveryReport report;
  report.objects = static_cast<std::size_t>(std::ranges::count_if(
      recovered->objects, [](const RecoveredObject& object) { return !object.lost; }));
  report.removed_files = recovered->removed_files;
  report.refused = std::move(recovered->refused);
  for (RecoveredObject& found : recovered->objects) {
    found.info.object.nodes[found.info.home] = options_.self;
    auto object = std::make_shared<StoredObject>();
    object->info = std::make_shared<const StripingInfo>(std::move(found.info));
    object->stripes = std::move(found.stripes);
    object->lost = std::move(found.lost);
    manifest_bytes_ += memory_of(*object->info);
    entries_[object->info->object.key].live = std::move(object);
  }
  next_generation_ = recovered->unused_generation;
  reserved_generation_ = next_generation_;
  first_generation_ = recovered->ends_with_process ? next_generation_ : 1;
  closed_ = false;
  co_return report;
}

Result<void> ObjectStoreState::check_self() const {
  // Every manifest and descriptor names it, and would be refused by whoever reads them.
  ObjectDescriptor sample;
  sample.key = "self";
  sample.generation = ObjectGeneration(1);
  sample.stripe_size = kGranuleBytes;
  sample.nodes = {options_.self};
  if (check_descriptor(sample)) return ok_result();
  return Error(
      Errc::kInvalidArgument, Stage::kSetup,
      fmt::format("an object store needs 1 to {} addresses of its node, each of 1 to {} "
                  "bytes; it was given {}",
                  kMaxNodeAddresses, kMaxNodeAddressBytes, options_.self.addresses.size()));
}

Task<void> ObjectStoreState::close() {
  closed_ = true;
  std::vector<Put> open;
  for (const auto& [generation, put] : puts_) {
    if (!put->committing) open.push_back(put);
  }
  for (const Put& put : open) end_put(put);
  while (running_ > 0) co_await none_running_.wait();
  leases_.release_all();
  co_await removals_.join();
}

Result<void> ObjectStoreState::check_open() const {
  if (!closed_) return ok_result();
  return Error(Errc::kClosed, "the object store has been closed, or did not start");
}

Result<std::shared_ptr<StoredObject>> ObjectStoreState::find(std::string_view key) const {
  if (auto open = check_open(); !open) return open.error();
  const auto found = entries_.find(key);
  if (found == entries_.end() || !found->second.live) return missing(key);
  if (found->second.live->lost) return *found->second.live->lost;
  return found->second.live;
}

bool ObjectStoreState::is_readable(const Entry& entry) {
  return entry.live != nullptr && !entry.live->lost;
}

Error ObjectStoreState::missing(std::string_view key) {
  return Error(Errc::kNotFound,
               fmt::format("there is no object '{}'", key.substr(0, kMaxObjectKeyBytes)));
}

Result<void> ObjectStoreState::check_generation(std::string_view key,
                                                std::optional<ObjectGeneration> expected) const {
  if (!expected) return ok_result();
  const auto found = entries_.find(key);
  const bool there = found != entries_.end() && found->second.live;
  const auto present = there ? found->second.live->info->object.generation : ObjectGeneration(0);
  if (present == *expected) return ok_result();
  return Error(Errc::kGenerationChanged,
               fmt::format("object '{}' has generation {}, not {} (0: it is not there)", key,
                           present.value(), expected->value()));
}

Result<void> ObjectStoreState::check_life(std::string_view key,
                                          std::optional<ObjectGeneration> generation) const {
  if (!generation || first_generation_ == 1) return ok_result();
  const std::uint64_t number = generation->value();
  if (number >= first_generation_ && number < next_generation_) return ok_result();
  return Error(Errc::kStripeLost,
               fmt::format("generation {} of object '{}' was in the memory of an earlier process; "
                           "put it again",
                           number, key));
}

std::vector<ObjectSummary> ObjectStoreState::list(std::string_view prefix, std::string_view after,
                                                  std::size_t most) const {
  std::vector<ObjectSummary> found;
  auto at = after < prefix ? entries_.lower_bound(prefix) : entries_.upper_bound(after);
  for (; at != entries_.end() && found.size() < most; ++at) {
    if (!at->first.starts_with(prefix)) break;
    if (!is_readable(at->second)) continue;
    const ObjectDescriptor& object = at->second.live->info->object;
    found.push_back({object.key, object.size, object.generation});
  }
  return found;
}

Result<ObjectLease> ObjectStoreState::lease(std::string_view key,
                                            std::optional<ObjectGeneration> if_generation,
                                            Duration ttl) {
  if (auto known = check_life(key, if_generation); !known) return std::move(known).error();
  auto object = find(key);
  if (!object) return std::move(object).error();
  if (auto same = check_generation(key, if_generation); !same) return same.error();
  ttl = ttl_of(ttl);
  const auto id = leases_.grant(*object, ttl);
  if (!id) return id.error();
  return ObjectLease{*id, ttl, (*object)->info};
}

Result<Duration> ObjectStoreState::renew(LeaseId lease, Duration ttl) {
  ttl = ttl_of(ttl);
  if (auto renewed = leases_.renew(lease, ttl); !renewed) return renewed.error();
  return ttl;
}

Duration ObjectStoreState::ttl_of(Duration asked) const {
  return asked <= Duration(0) ? options_.lease_ttl : std::min(asked, options_.max_lease_ttl);
}

void ObjectStoreState::retire(const std::shared_ptr<StoredObject>& object) {
  object->current = false;
  ++superseded_;
  forget_if_unused(object);
}

void ObjectStoreState::forget_if_unused(const std::shared_ptr<StoredObject>& object) {
  if (object->current || object->users > 0) return;
  --superseded_;
  manifest_bytes_ -= memory_of(*object->info);
  remove_later(object->stripes);
}

void ObjectStoreState::remove_later(std::shared_ptr<StripeSet> stripes) {
  removals_.spawn([](std::shared_ptr<StripeSet> set) -> Task<void> {
    co_await set->remove();
  }(std::move(stripes)));
}

ObjectStoreStats ObjectStoreState::stats() const {
  ObjectStoreStats stats;
  stats.objects = static_cast<std::size_t>(
      std::ranges::count_if(entries_, [](const auto& entry) { return is_readable(entry.second); }));
  stats.open_puts = puts_.size();
  stats.leases = leases_.size();
  stats.lapsed_leases = leases_.lapsed();
  stats.superseded = superseded_;
  return stats;
}

}  // namespace corail::detail
