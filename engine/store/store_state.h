#pragma once

#include <asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/base/result.h"
#include "engine/memory/region_registry.h"
#include "engine/store/arena.h"
#include "engine/store/block_table.h"
#include "engine/store/extent_table.h"
#include "engine/store/lease_table.h"
#include "engine/store/namespace_table.h"
#include "engine/store/seal_watch.h"
#include "engine/store/shape.h"
#include "engine/store/store_types.h"

namespace corail::detail {

/// Fails with kInvalidArgument or kTooLarge when a key or their number breaks a bound (I5).
Result<void> check_keys(std::string_view name_space, std::span<const std::string_view> hashes,
                        std::uint32_t max_hashes, Stage stage);

/// Everything a BlockStore owns, for the files that implement its parts: this one keeps the tables
/// consistent with each other, query.cc scans, reservation.cc finds bytes, save.cc fills them. Home
/// executor only.
class StoreState {
 public:
  StoreState(StoreOptions options, RegionRegistry& registry, Clock& clock,
             asio::any_io_executor executor, BootId boot);
  StoreState(const StoreState&) = delete;
  StoreState& operator=(const StoreState&) = delete;
  ~StoreState();

  const StoreOptions& options() const noexcept { return options_; }
  RegionRegistry& registry() noexcept { return registry_; }
  ShapeBook& shapes() noexcept { return shapes_; }
  NamespaceTable& namespaces() noexcept { return namespaces_; }
  ExtentTable& extents() noexcept { return extents_; }
  const ExtentTable& extents() const noexcept { return extents_; }
  BlockTable& blocks() noexcept { return blocks_; }
  const BlockTable& blocks() const noexcept { return blocks_; }
  LeaseTable& leases() noexcept { return leases_; }
  SealBoard& seals() noexcept { return *seals_; }
  StoreStats& counters() noexcept { return counters_; }

  /// For a timer on the home executor, where it must be used and destroyed.
  std::unique_ptr<Timer> make_timer() { return clock_.make_timer(executor_); }
  TimePoint now() const noexcept { return clock_.now(); }

  /// The arena of a NUMA node, or null.
  std::shared_ptr<Arena> arena_of(std::int32_t numa_node) const;
  std::string list_nodes() const;

  std::uint32_t find(std::string_view name_space, std::string_view hash) const;
  /// Adds a sealed block of the namespace, which gains a use; the key must not be there.
  void insert(std::string_view name_space, std::string_view hash, std::span<const PartRef> parts,
              const Layout* layout, Checksum64 checksum);
  /// Removes a block from the index; true when that gave up an extent of the arena.
  bool erase(std::uint32_t slot, const Arena* arena);
  /// A number that no query had before.
  std::uint64_t next_query() noexcept { return ++queries_; }

  Result<SegmentLocation> locate(std::string_view name_space, std::string_view hash,
                                 std::uint32_t lane) const;
  StoreStats stats() const;
  std::vector<std::string> describe() const;

 private:
  /// Fails as mapping, registering and publishing do, and leaves nothing behind then.
  void unpublish();

  const StoreOptions options_;
  RegionRegistry& registry_;
  Clock& clock_;
  const asio::any_io_executor executor_;
  std::vector<std::shared_ptr<Arena>> arenas_;
  ShapeBook shapes_;
  NamespaceTable namespaces_;
  ExtentTable extents_;
  BlockTable blocks_;
  LeaseTable leases_;
  const std::shared_ptr<SealBoard> seals_ = std::make_shared<SealBoard>(options_);
  std::uint64_t queries_ = 0;
  StoreStats counters_;  // of what is counted since the start
};

}  // namespace corail::detail
