#pragma once

#include <cstdint>
#include <optional>

#include "engine/base/result.h"
#include "engine/rail/slice.h"

namespace corail {

/// One read's share of one rail: the rail asks it for the next slice whenever its window has room,
/// so that a fast rail takes more. Owned by the read's task on that rail, used on the port's
/// executor only, attached to one rail at a time.
class SliceSource : public SliceSink {
 public:
  /// The next slice to post, at most `max_bytes` long, or nothing when there is none now. Once
  /// nothing was returned, or has_more() was false, the rail asks again only after an outcome of
  /// this source.
  virtual std::optional<Slice> next(std::uint64_t max_bytes) noexcept = 0;

  /// False: next() would return nothing. Asked first, so that a rail never queues for room of its
  /// port that it has no slice for: the port would look crowded after its reads have ended.
  virtual bool has_more() const noexcept = 0;

  /// The rail is out of use, and the outcomes of what is posted may never come by themselves: fence
  /// it. Nothing posted: the share will have no more of this rail. May come twice.
  virtual void on_rail_failed(const Error& why) noexcept = 0;

  virtual ReadContext context() const noexcept = 0;
};

}  // namespace corail
