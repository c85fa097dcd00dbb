#include <fmt/core.h>

#include <utility>

#include "engine/store/object_store_state.h"
#include "engine/store/object_store_turn.h"
#include "engine/store/run_apart.h"

namespace corail::detail {

Task<Result<ObjectGeneration>> ObjectStoreState::begin_put(PutRequest request) {
  const Running running(*this);
  if (auto open = check_open(); !open) co_return open.error();
  if (auto sound = check_put(request); !sound) co_return sound.error();
  if (auto room = check_room(request); !room) co_return room.error();
  // Checked again by the commit, which decides; here it saves the bytes' way.
  if (auto same = check_generation(request.key, request.if_generation); !same) {
    co_return same.error();
  }
  auto generation = co_await next_generation();
  if (!generation) co_return std::move(generation).error();
  auto stripes = co_await medium_->create(*generation, request.size, request.stripe_size);
  if (!stripes) co_return std::move(stripes).error();
  // Others have begun meanwhile, or the store has been closed.
  auto still = check_open();
  if (still) still = check_room(request);
  if (!still) {
    remove_later(*stripes);
    co_return std::move(still).error();
  }
  const Put put =
      std::make_shared<OpenPut>(request, *generation, options_.self, medium_->devices(), *stripes);
  put->timer = clock_.make_timer(executor_);
  put->expires = clock_.now() + options_.put_ttl;
  puts_.emplace(*generation, put);
  open_put_bytes_ += put->size();
  manifest_bytes_ += put->manifest_memory();
  watch_put(put);
  co_return *generation;
}

Result<void> ObjectStoreState::check_room(const PutRequest& request) const {
  const std::string& key = request.key;
  if (puts_.size() >= options_.max_open_puts) {
    return Error(Errc::kQuotaExceeded,
                 fmt::format("{} puts are open already: commit or abort some, or raise "
                             "max_open_puts",
                             options_.max_open_puts));
  }
  // Sums of what is bounded already: they do not overflow.
  if (request.size > options_.max_open_put_bytes - open_put_bytes_) {
    return Error(Errc::kQuotaExceeded,
                 fmt::format("open puts have {} bytes, and {} more are asked for: commit or abort "
                             "some, or raise max_open_put_bytes ({})",
                             open_put_bytes_, request.size, options_.max_open_put_bytes));
  }
  if (manifest_bytes_ + memory_of(request.size, request.stripe_size) >
      options_.max_manifest_bytes) {
    return Error(Errc::kQuotaExceeded,
                 fmt::format("the manifests of this store take {} bytes of memory: delete some "
                             "objects, use larger stripes, or raise max_manifest_bytes ({})",
                             manifest_bytes_, options_.max_manifest_bytes));
  }
  const auto found = entries_.find(key);
  if (found == entries_.end() && entries_.size() >= options_.max_objects) {
    return Error(Errc::kQuotaExceeded,
                 fmt::format("the store has {} objects already: delete some, or raise max_objects",
                             options_.max_objects));
  }
  if (found != entries_.end() && found->second.in_doubt.size() >= kMaxInDoubt) {
    return Error(Errc::kStoreFailed,
                 fmt::format("{} commits of '{}' have failed without it being known whether a "
                             "restart finds them: check the first directory's device, then delete "
                             "the object or restart",
                             kMaxInDoubt, key));
  }
  return ok_result();
}

Task<Result<ObjectGeneration>> ObjectStoreState::next_generation() {
  if (next_generation_ >= reserved_generation_) {
    auto mine = co_await turn_.acquire(1);
    if (!mine) co_return std::move(mine).error();
    const Turn turn(*this);
    if (next_generation_ >= reserved_generation_) {
      const std::uint64_t bound = next_generation_ + kGenerationBatch;
      if (bound > kMaxObjectGeneration) {
        co_return Error(Errc::kStoreFailed,
                        fmt::format("generation {} is one of the last ones; check who wrote the "
                                    "store's records",
                                    next_generation_));
      }
      auto reserved = co_await medium_->reserve_generations(bound);
      if (!reserved) co_return std::move(reserved).error();
      reserved_generation_ = bound;
    }
    co_return ObjectGeneration(next_generation_++);
  }
  co_return ObjectGeneration(next_generation_++);
}

Result<ObjectStoreState::Put> ObjectStoreState::find_put(ObjectGeneration generation) const {
  if (auto open = check_open(); !open) return open.error();
  const auto found = puts_.find(generation);
  if (found == puts_.end()) {
    return Error(Errc::kNotFound,
                 fmt::format("there is no open put of generation {}: it was aborted, or nothing "
                             "was written to it for too long",
                             generation.value()));
  }
  if (found->second->committing) {
    return Error(Errc::kBusy,
                 fmt::format("the put of '{}' is being committed", found->second->key()));
  }
  return found->second;
}

Task<Result<void>> ObjectStoreState::write(ObjectGeneration generation, std::uint32_t stripe,
                                           std::uint64_t offset, std::span<const std::byte> bytes) {
  const Running running(*this);
  const auto found = find_put(generation);
  if (!found) co_return found.error();
  const Put put = *found;
  if (put->broken) co_return *put->broken;
  if (auto claimed = put->claim(stripe, offset, bytes.size()); !claimed) {
    co_return std::move(claimed).error();
  }
  ++put->writing;
  put->expires = clock_.now() + options_.put_ttl;
  const auto hash = [bytes] { return hash_granules(bytes); };
  const std::vector<Checksum64> hashes = co_await run_apart(options_.workers, hash);
  auto written = co_await put->stripes().write(stripe, offset, bytes);
  --put->writing;
  if (put->ended) {
    if (put->writing == 0) remove_later(put->shared_stripes());
    co_return Error(Errc::kCancelled,
                    fmt::format("the put of '{}' was aborted, or expired", put->key()));
  }
  if (!written) {
    if (!put->broken) put->broken = written.error();
    co_return std::move(written).error();
  }
  put->written(stripe, offset, hashes);
  co_return ok_result();
}

Task<Result<std::shared_ptr<const StripingInfo>>> ObjectStoreState::commit_put(
    ObjectGeneration generation) {
  const Running running(*this);
  const auto found = find_put(generation);
  if (!found) co_return found.error();
  const Put put = *found;
  if (auto complete = put->check_complete(); !complete) {
    if (put->broken && put->writing == 0) end_put(put);
    co_return std::move(complete).error();
  }
  put->committing = true;
  const auto finish = [put] { return std::make_shared<const StripingInfo>(put->finish()); };
  const std::shared_ptr<const StripingInfo> info = co_await run_apart(options_.workers, finish);
  auto installed = co_await install(put, info);
  forget_put(put);
  if (!installed) co_return std::move(installed).error();
  co_return info;
}

Task<Result<void>> ObjectStoreState::install(Put put, std::shared_ptr<const StripingInfo> info) {
  const std::string& key = info->object.key;
  auto synced = co_await put->stripes().sync();
  if (!synced) {
    remove_later(put->shared_stripes());
    co_return std::move(synced).error();
  }
  auto mine = co_await turn_.acquire(1);
  if (!mine) {
    remove_later(put->shared_stripes());
    co_return std::move(mine).error();
  }
  const Turn turn(*this);
  auto allowed = put->superseded
                     ? Error(Errc::kGenerationChanged,
                             fmt::format("a put of '{}' that began later was committed", key))
                     : check_generation(key, put->if_generation);
  if (!allowed) {
    remove_later(put->shared_stripes());
    co_return std::move(allowed).error();
  }
  // What no start would take must not be written in place of what one does.
  const auto check = [&info] { return check_striping(*info); };
  auto written = co_await run_apart(options_.workers, check);
  if (written) written = co_await medium_->write_manifest(*info);
  if (!written) {
    remove_later(put->shared_stripes());
    co_return std::move(written).error();
  }
  auto installed = co_await medium_->install_manifest(key);
  Entry& entry = entries_[key];
  if (!installed) {
    entry.in_doubt.push_back(put->shared_stripes());
    co_return std::move(installed).error();
  }
  make_current(entry, std::make_shared<StoredObject>(StoredObject{info, put->shared_stripes()}));
  co_return ok_result();
}

void ObjectStoreState::make_current(Entry& entry, std::shared_ptr<StoredObject> object) {
  const ObjectDescriptor& now = object->info->object;
  // A generation that readers have seen is never followed by a lesser one.
  for (const auto& [generation, put] : puts_) {
    if (generation < now.generation && put->key() == now.key) put->superseded = true;
  }
  for (std::shared_ptr<StripeSet>& stripes : entry.in_doubt) remove_later(std::move(stripes));
  entry.in_doubt.clear();
  manifest_bytes_ += memory_of(now);
  const std::shared_ptr<StoredObject> before = std::exchange(entry.live, std::move(object));
  if (before) retire(before);
}

Task<Result<void>> ObjectStoreState::abort_put(ObjectGeneration generation) {
  const Running running(*this);
  const auto found = find_put(generation);
  if (!found) co_return found.error();
  end_put(*found);
  co_return ok_result();
}

void ObjectStoreState::end_put(const Put& put) {
  const Put kept = put;  // the map's own may be what `put` refers to
  kept->ended = true;
  forget_put(kept);
  if (kept->writing == 0) remove_later(kept->shared_stripes());
}

void ObjectStoreState::forget_put(const Put& put) {
  open_put_bytes_ -= put->size();
  manifest_bytes_ -= put->manifest_memory();
  puts_.erase(put->generation());
}

void ObjectStoreState::watch_put(const Put& put) {
  put->timer->wait_until(put->expires, [this, generation = put->generation()](bool expired) {
    const auto found = puts_.find(generation);
    if (!expired || found == puts_.end() || found->second->committing) return;
    const Put& watched = found->second;
    if (watched->writing > 0) watched->expires = clock_.now() + options_.put_ttl;
    if (clock_.now() < watched->expires) return watch_put(watched);
    end_put(watched);
  });
}

Task<Result<ObjectGeneration>> ObjectStoreState::erase(
    std::string key, std::optional<ObjectGeneration> if_generation) {
  const Running running(*this);
  if (auto open = check_open(); !open) co_return open.error();
  auto mine = co_await turn_.acquire(1);
  if (!mine) co_return std::move(mine).error();
  const Turn turn(*this);
  const auto found = entries_.find(key);
  if (found == entries_.end()) co_return missing(key);
  if (found->second.live) {
    if (auto same = check_generation(key, if_generation); !same) co_return same.error();
  }
  auto withdrawn = co_await medium_->withdraw(key);
  if (!withdrawn) co_return std::move(withdrawn).error();
  const Entry gone = std::move(found->second);
  entries_.erase(found);
  for (const std::shared_ptr<StripeSet>& stripes : gone.in_doubt) remove_later(stripes);
  if (!gone.live) co_return missing(key);
  retire(gone.live);
  co_return gone.live->info->object.generation;
}

}  // namespace corail::detail
