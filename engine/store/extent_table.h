#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/check.h"
#include "engine/store/arena.h"

namespace corail::detail {

/// The extents that the index refers to, by number, with what the scan needs of them side by side.
/// An entry goes with the last block of its extent; the bytes stay while leases or pins refer to
/// them. Owned by the store, home executor only.
class ExtentTable {
 public:
  struct Entry {
    const Shape* shape = nullptr;
    std::uint64_t base = 0;
    RegionId region;
    std::uint32_t blocks = 0;   // in the index
    std::uint64_t seen_by = 0;  // the query that leased it last
    std::shared_ptr<const Extent> extent;
  };

  /// A number for the extent, which has no block yet.
  std::uint32_t add(std::shared_ptr<const Extent> extent) {
    std::uint32_t number = 0;
    if (free_.empty()) {
      number = static_cast<std::uint32_t>(entries_.size());
      entries_.emplace_back();
    } else {
      number = free_.back();
      free_.pop_back();
    }
    Entry& entry = entries_[number];
    entry.shape = &extent->shape();
    entry.base = extent->base();
    entry.region = extent->region();
    entry.extent = std::move(extent);
    return number;
  }

  void add_block(std::uint32_t number) noexcept { ++entries_[number].blocks; }

  /// True when that was the extent's last block, so its entry is gone.
  bool remove_block(std::uint32_t number) {
    Entry& entry = entries_[number];
    CORAIL_CHECK(entry.blocks > 0, "a block was removed from an extent that had none");
    if (--entry.blocks > 0) return false;
    entry = Entry();
    free_.push_back(number);
    return true;
  }

  Entry& at(std::uint32_t number) noexcept { return entries_[number]; }
  const Entry& at(std::uint32_t number) const noexcept { return entries_[number]; }
  /// Free entries included; they have no extent.
  const std::vector<Entry>& entries() const noexcept { return entries_; }
  std::size_t size() const noexcept { return entries_.size() - free_.size(); }

  /// Whether somebody besides the index holds the extent. A hint, as pins go on any thread; it is
  /// exact while nobody pins.
  static bool leased(const Entry& entry) noexcept { return entry.extent.use_count() > 1; }

 private:
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> free_;
};

}  // namespace corail::detail
