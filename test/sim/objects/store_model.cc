#include "test/sim/objects/store_model.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/object/placement.h"
#include "engine/object/stripe_checksum.h"

namespace corail::sim {

StoreModel::StoreModel(Journal& journal, const Clock& clock) : journal_(journal), clock_(clock) {
  for (std::size_t key = 0; key < kObjectKeys; ++key) begin_era(key, std::nullopt, 0);
}

void StoreModel::begin_era(std::size_t key, std::optional<ObjectGeneration> generation,
                           PutNumber put) {
  Era era;
  era.generation = generation;
  era.put = put;
  era.since = clock_.now();
  eras_[key].push_back(era);
}

PutRecord& StoreModel::begin_put(PutOrder order, std::span<const std::byte> content) {
  PutRecord& put = puts_.emplace_back();
  put.number = static_cast<PutNumber>(puts_.size());
  for (std::uint64_t at = 0; at < order.size; at += order.stripe_size) {
    const std::uint64_t length = std::min(order.stripe_size, order.size - at);
    put.checksums.push_back(stripe_checksum(content.subspan(at, length)));
  }
  put.order = order;
  return put;
}

void StoreModel::named(PutRecord& put, ObjectGeneration generation) {
  put.generation = generation;
  const auto [entry, added] = names_.emplace(generation, put.number);
  if (added || entry->second == put.number) return;
  journal_.violate(2, fmt::format("put {} was given generation {}, which put {} had before",
                                  put.number, generation.value(), entry->second));
}

void StoreModel::committing(PutRecord& put) { put.committing = true; }

void StoreModel::committed(PutRecord& put, const ObjectDescriptor& object) {
  journal_.event("put {} is committed as generation {}", put.number, object.generation.value());
  put.ended = true;
  if (put.generation && *put.generation != object.generation) {
    journal_.violate(
        2, fmt::format("put {} began as generation {} and was committed as {}", put.number,
                       put.generation->value(), object.generation.value()));
  }
  named(put, object.generation);
  if (put.seen) return;
  journal_.violate(
      2, fmt::format("put {} was said to be committed, and the home never had it", put.number));
}

void StoreModel::failed(PutRecord& put, const Error& error) {
  journal_.event("put {} failed: {}", put.number, error.to_string());
  put.ended = true;
  if (error.code() == Errc::kUnset) {
    journal_.violate(2, fmt::format("put {} ended with a result that nobody set", put.number));
  }
  if (!put.committing || error.code() == Errc::kGenerationChanged) put.refused = true;
}

void StoreModel::aborted(PutRecord& put) {
  journal_.event("put {} is aborted", put.number);
  put.ended = true;
  if (!put.committing) put.refused = true;
}

DeleteRecord& StoreModel::begin_delete(std::size_t key,
                                       std::optional<ObjectGeneration> if_generation) {
  DeleteRecord& erased = deletes_.emplace_back();
  erased.key = key;
  erased.if_generation = if_generation;
  erased.begin = clock_.now();
  return erased;
}

void StoreModel::deleted(DeleteRecord& erased, const Result<ObjectGeneration>& outcome) {
  // Only then it is certain that it was done, or was not and will not be.
  if (outcome || outcome.error().code() == Errc::kNotFound ||
      outcome.error().code() == Errc::kGenerationChanged) {
    erased.end = clock_.now();
  }
  if (!outcome || has_vanished(erased, *outcome)) return;
  journal_.violate(2, fmt::format("generation {} of {} was said to be deleted, and was not",
                                  outcome->value(), object_key(erased.key)));
}

/// Whether the key lost that generation, and got no other, since the deletion began.
bool StoreModel::has_vanished(const DeleteRecord& erased, ObjectGeneration generation) const {
  const std::vector<Era>& eras = eras_[erased.key];
  for (std::size_t i = 0; i + 1 < eras.size(); ++i) {
    const Era& next = eras[i + 1];
    if (eras[i].generation == generation) return !next.generation && next.since >= erased.begin;
  }
  return false;
}

bool StoreModel::may_vanish(std::size_t key) const {
  const Era& era = present(key);
  return std::any_of(deletes_.begin(), deletes_.end(), [&](const DeleteRecord& erased) {
    const bool means_it = !erased.if_generation || erased.if_generation == era.generation;
    return erased.key == key && means_it && (!erased.end || *erased.end >= era.since);
  });
}

/// By its name, or where the answer that names it has not come, by its content.
PutRecord* StoreModel::find(std::size_t key, const ObjectDescriptor& object) {
  const auto is_it = [&](const PutRecord& put) {
    if (put.order.key != key || put.order.size != object.size) return false;
    if (put.generation) return *put.generation == object.generation;
    // Few bytes are the same in many puts; those have their name before they are committed.
    if (!put.committing || object.size < kTellingBytes) return false;
    return std::equal(
        put.checksums.begin(), put.checksums.end(), object.chunks.begin(), object.chunks.end(),
        [](Checksum64 checksum, const ObjectChunk& chunk) { return checksum == chunk.checksum; });
  };
  const auto found = std::find_if(puts_.begin(), puts_.end(), is_it);
  return found == puts_.end() ? nullptr : &*found;
}

void StoreModel::observe(std::size_t key, const ObjectDescriptor* now) {
  const Era& era = present(key);
  const bool same =
      now == nullptr ? !era.generation : era.generation && *era.generation == now->generation;
  if (there_ && !same) change(key, now);
}

void StoreModel::change(std::size_t key, const ObjectDescriptor* now) {
  const Era before = present(key);
  if (now == nullptr) {
    journal_.event("{} is gone", object_key(key));
    if (!may_vanish(key)) {
      journal_.violate(2, fmt::format("{} is gone, and nobody deleted it", object_key(key)));
    }
    return begin_era(key, std::nullopt, 0);
  }
  PutRecord* const put = find(key, *now);
  if (put == nullptr || !put->committing || put->refused) {
    return journal_.violate(2, fmt::format("{} has generation {}, which nobody committed",
                                           object_key(key), now->generation.value()));
  }
  named(*put, now->generation);
  put->seen = true;
  journal_.event("{} is put {}, generation {}", object_key(key), put->number,
                 now->generation.value());
  if (before.generation && now->generation < *before.generation) {
    journal_.violate(2, fmt::format("{} has generation {} after generation {}", object_key(key),
                                    now->generation.value(), before.generation->value()));
  }
  const auto wanted = put->order.if_generation;
  if (wanted && *wanted != before.generation.value_or(ObjectGeneration(0))) {
    journal_.violate(
        2, fmt::format("put {} was to be committed only in place of generation {}, and it was in "
                       "place of {}",
                       put->number, wanted->value(),
                       before.generation.value_or(ObjectGeneration(0)).value()));
  }
  begin_era(key, now->generation, put->number);
}

const PutRecord* StoreModel::put_of(ObjectGeneration generation) const {
  const auto found = names_.find(generation);
  return found == names_.end() ? nullptr : &put(found->second);
}

std::optional<TimePoint> StoreModel::superseded(std::size_t key,
                                                ObjectGeneration generation) const {
  const std::vector<Era>& eras = eras_[key];
  for (std::size_t i = 0; i + 1 < eras.size(); ++i) {
    if (eras[i].generation == generation) return eras[i + 1].since;
  }
  return std::nullopt;
}

bool StoreModel::current_since(std::size_t key, std::optional<ObjectGeneration> generation,
                               TimePoint from) const {
  const std::vector<Era>& eras = eras_[key];
  for (std::size_t i = 0; i < eras.size(); ++i) {
    const bool over = i + 1 < eras.size() && eras[i + 1].since < from;
    if (!over && eras[i].generation == generation) return true;
  }
  return false;
}

}  // namespace corail::sim
