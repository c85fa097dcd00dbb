#pragma once

#include <algorithm>
#include <cstdint>
#include <map>

#include "engine/base/clock.h"
#include "engine/rail/slice.h"

namespace corail {

/// Which bytes of a slice are in place, counted by position: a packet that comes twice counts once.
class Placement {
 public:
  void add(std::uint64_t from, std::uint64_t to) {
    std::uint64_t& end = ahead_[from];
    end = std::max(end, to);
    while (!ahead_.empty() && ahead_.begin()->first <= prefix_) {
      prefix_ = std::max(prefix_, ahead_.begin()->second);
      ahead_.erase(ahead_.begin());
    }
  }

  /// Bytes [0, prefix()) are in place.
  std::uint64_t prefix() const noexcept { return prefix_; }

 private:
  std::uint64_t prefix_ = 0;
  std::map<std::uint64_t, std::uint64_t> ahead_;  // overtook; from -> to
};

/// A posted slice as the modelled device sees it. Owned by the transport's OpTable, hence known to
/// events by a key that goes stale, never by address.
struct MockOp {
  MockOp(ReadContext on_behalf, const Slice& posted, SliceSink& whose, std::uint64_t which,
         TimePoint first_byte)
      : context(on_behalf),
        slice(posted),
        sink(&whose),
        number(which),
        ready(first_byte),
        deliverable(posted.length) {}

  ReadContext context;
  Slice slice;
  SliceSink* sink;
  std::uint64_t number;       // among all that the rail was given
  std::uint64_t order = 0;    // the number of its order; 0: it is read
  TimePoint ready;            // before then no byte can be here
  std::uint64_t deliverable;  // what the device will deliver; less than the length when short
  std::uint64_t sent = 0;     // bytes on the wire or past it
  std::uint64_t packets = 0;  // likewise
  TimePoint last_arrival{};   // of what was sent
  Placement placed;
  bool completed = false;  // the device says so, of a pushed slice its owner
  bool fenced = false;     // the device starts nothing more of it
};

}  // namespace corail
