#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/base/ids.h"
#include "engine/base/region_table.h"
#include "engine/base/result.h"

namespace corail {

/// Which of a holder's memory is registered, as requesters are told. Publishing only: who adds a
/// region keeps its memory and registration until nothing can refer to it any more (contract 5).
/// Owned by the node, outlives the stores. Thread-safe.
class RegionRegistry {
 public:
  /// `max_regions`: at most kMaxRegions, which is what a requester accepts.
  explicit RegionRegistry(std::size_t max_regions = kMaxRegions);

  /// `base` is this process's address, `keys` one per port (0 where the transport has none). Fails
  /// with kInvalidArgument for an empty, overflowing or overlapping range, kTooLarge beyond
  /// max_regions.
  Result<RegionId> add(std::uint64_t base, std::uint64_t length, std::int32_t numa_node,
                       std::vector<std::uint64_t> keys);
  /// Replaces a region's keys, after a port was opened or rebuilt. Fails with kNotFound.
  Result<void> set_keys(RegionId id, std::vector<std::uint64_t> keys);
  /// Unpublishes; false when there is no such region. Ids are never reused.
  bool remove(RegionId id);

  /// Is called with every new generation from now on, on the thread that made the change, until the
  /// next set_listener() has returned. Must not block or use the registry. Empty: nobody.
  void set_listener(std::function<void(TableGeneration)> listener);

  /// The regions as of now; the generation differs whenever anything in it does.
  std::shared_ptr<const RegionTable> snapshot() const;

 private:
  Result<void> publish(std::vector<Region> regions);

  const std::size_t max_regions_;
  mutable std::mutex mutex_;
  std::uint32_t next_id_ = 1;
  std::shared_ptr<const RegionTable> table_;
  std::function<void(TableGeneration)> listener_;
};

}  // namespace corail
