#pragma once

#include <cstddef>
#include <cstdint>
#include <list>

#include "engine/base/clock.h"
#include "engine/rail/slice.h"

namespace corail {

/// The slices of a rail that have had no outcome, in the order of posting, and since when the
/// oldest is silent.
///
/// Only the oldest tells a rail that is stuck from one that is slow: nothing that was posted before
/// it is in its way, so it is its turn at the peer. How old it is says nothing, and neither do the
/// others: they may go on for ever beside a request that never completes.
///
/// Pure: time is an argument, and only moves forward. On the rail's executor.
class PostedSlices {
 public:
  /// Makes room for so many, so that posting allocates nothing.
  void reserve(std::size_t count);

  bool empty() const noexcept { return posted_.empty(); }
  std::size_t size() const noexcept { return posted_.size(); }

  /// Tags are unique among a sink's slices.
  void add(const SliceSink& sink, std::uint64_t tag, TimePoint now);
  /// Bytes of it have landed.
  void landed(const SliceSink& sink, std::uint64_t tag, TimePoint now);
  /// It has had its outcome.
  void end(const SliceSink& sink, std::uint64_t tag, TimePoint now);

  /// When the oldest was posted, has become the oldest or has landed something, whichever is last.
  /// There must be one.
  TimePoint heard() const noexcept { return posted_.front().heard; }

 private:
  struct Entry {
    const SliceSink* sink = nullptr;
    std::uint64_t tag = 0;
    TimePoint heard{};
  };
  using Entries = std::list<Entry>;

  Entries::iterator find(const SliceSink& sink, std::uint64_t tag);

  Entries posted_;
  Entries spare_;
};

}  // namespace corail
