#include "engine/memory/region_registry.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

namespace corail {

RegionRegistry::RegionRegistry(std::size_t max_regions)
    : max_regions_(std::min(max_regions, kMaxRegions)),
      table_(std::make_shared<const RegionTable>()) {}

Result<void> RegionRegistry::publish(std::vector<Region> regions) {
  const TableGeneration generation(table_->generation().value() + 1);
  auto table = RegionTable::make(generation, std::move(regions));
  if (!table) {
    // The table's own checks speak of a peer; here the values are ours.
    return Error(Errc::kInvalidArgument, Stage::kSetup,
                 "the regions cannot be published: " + table.error().detail());
  }
  table_ = std::make_shared<const RegionTable>(std::move(*table));
  // With the lock held: so the generations come in order, and none after the listener was changed.
  if (listener_) listener_(generation);
  return ok_result();
}

Result<RegionId> RegionRegistry::add(std::uint64_t base, std::uint64_t length,
                                     std::int32_t numa_node, std::vector<std::uint64_t> keys) {
  const std::lock_guard lock(mutex_);
  const auto current = table_->regions();
  if (current.size() >= max_regions_) {
    return Error(Errc::kTooLarge, Stage::kSetup,
                 fmt::format("{} regions are registered, which is the most; use larger slabs",
                             current.size()));
  }
  std::vector<Region> regions(current.begin(), current.end());
  Region region;
  region.id = RegionId(next_id_);
  region.base = base;
  region.length = length;
  region.numa_node = numa_node;
  region.keys = std::move(keys);
  const RegionId id = region.id;
  regions.push_back(std::move(region));
  auto published = publish(std::move(regions));
  if (!published) return std::move(published).error();
  ++next_id_;
  return id;
}

Result<void> RegionRegistry::set_keys(RegionId id, std::vector<std::uint64_t> keys) {
  const std::lock_guard lock(mutex_);
  const auto current = table_->regions();
  std::vector<Region> regions(current.begin(), current.end());
  const auto found = std::find_if(regions.begin(), regions.end(),
                                  [id](const Region& region) { return region.id == id; });
  if (found == regions.end()) {
    return Error(Errc::kNotFound, Stage::kSetup,
                 fmt::format("there is no region {} to give keys to", id.value()));
  }
  found->keys = std::move(keys);
  return publish(std::move(regions));
}

bool RegionRegistry::remove(RegionId id) {
  const std::lock_guard lock(mutex_);
  const auto current = table_->regions();
  std::vector<Region> regions;
  regions.reserve(current.size());
  std::copy_if(current.begin(), current.end(), std::back_inserter(regions),
               [id](const Region& region) { return region.id != id; });
  if (regions.size() == current.size()) return false;
  // A subset of a valid table is valid.
  return publish(std::move(regions)).ok();
}

void RegionRegistry::set_listener(std::function<void(TableGeneration)> listener) {
  const std::lock_guard lock(mutex_);
  listener_ = std::move(listener);
}

std::shared_ptr<const RegionTable> RegionRegistry::snapshot() const {
  const std::lock_guard lock(mutex_);
  return table_;
}

}  // namespace corail
