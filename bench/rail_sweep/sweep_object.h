#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/base/region_table.h"
#include "engine/memory/pin.h"
#include "engine/plan/object_plan.h"
#include "engine/rail/rail_door.h"

namespace corail::bench {

/// An object in one region of this process's memory, with content that depends on the position,
/// served to whoever asks: what a holder's lease would do is not measured. Immutable; any thread.
/// Outlives every pin.
class SweepObject final : public LeaseGate {
 public:
  /// Sizes in bytes; the stripe size is a valid one.
  SweepObject(std::uint64_t size, std::uint64_t stripe_size);

  Result<PinnedBytes> admit(SessionId session, ReadContext context, RegionId region,
                            std::uint64_t offset, std::uint64_t length) override;

  /// Of all of it.
  Result<ObjectPlan> plan(std::uint64_t max_read_bytes) const;
  /// Whether these are the object's bytes from `offset` on.
  bool has_at(std::uint64_t offset, std::span<const std::byte> bytes) const;

 private:
  std::vector<std::byte> memory_;
  std::shared_ptr<const ObjectDescriptor> descriptor_;
  RegionTable regions_;
  std::vector<StripeSource> sources_;
};

}  // namespace corail::bench
