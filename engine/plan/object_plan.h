#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/result.h"
#include "engine/object/object_descriptor.h"
#include "engine/plan/object_demand.h"
#include "engine/plan/read_plan.h"

namespace corail {

/// How ranges of an object are read: which stripes, from which owners, landing where.
///
/// The linear space holds one owner's bytes after the other's, each in the order of the object. A
/// span is what is read of one stripe into one place; a piece is a granule. Slices end on granules
/// and in one stripe, so that near the end of a read rails share stripes.
class ObjectPlan final : public ReadPlan {
 public:
  /// What is read of one stripe.
  struct Stripe {
    std::uint32_t index = 0;          // in the object
    std::uint32_t first_granule = 0;  // within the stripe, of those that are read
    std::uint32_t end_granule = 0;    // behind the last one that is read
    std::uint32_t granules = 0;       // that are read; fewer where there are gaps between them
    std::uint64_t first_bit = 0;      // the granules' numbers in the plan begin there
    std::uint64_t bytes = 0;          // that are read
    bool whole = false;
  };

  const ObjectDescriptor& object() const noexcept { return *object_; }
  /// Stripes of which anything is read, in linear order.
  std::span<const Stripe> stripes() const noexcept { return stripes_; }
  std::optional<NodeId> owner_id(std::size_t owner) const noexcept override {
    if (owner >= owner_nodes_.size()) return std::nullopt;
    return object_->nodes[owner_nodes_[owner]].id;
  }
  std::uint64_t granule_bits() const noexcept { return granule_bits_; }
  /// The descriptor's node that owner `owner` of owners() is.
  std::uint32_t owner_node(std::size_t owner) const noexcept { return owner_nodes_[owner]; }
  /// Where byte `linear`, below total_bytes(), is in the object. O(log spans).
  std::uint64_t object_offset(std::uint64_t linear) const noexcept;

  std::uint64_t cut_in(const Span& span, std::uint64_t from, std::uint64_t want,
                       std::uint64_t most) const noexcept override;

  /// The ranges, one after the other.
  std::uint64_t copy_bytes() const noexcept override { return total_bytes_; }
  void for_each_copy(std::uint64_t from, std::uint64_t to,
                     const std::function<void(const CopyPiece&)>& f) const override;

  /// Calls f(stripe, granule, linear, bytes) for each granule that overlaps [from, to), in linear
  /// order, with the granule's whole extent: `stripe` is an index in stripes(), `granule` counts
  /// within the stripe of the object.
  template <typename F>
  void for_each_segment(std::uint64_t from, std::uint64_t to, F&& f) const;

 private:
  friend class ObjectPlanner;

  /// What a span is of the object; by index in spans().
  struct Part {
    std::uint64_t object_offset = 0;
    std::uint64_t copy_offset = 0;
    std::uint32_t stripe = 0;         // index in stripes_
    std::uint32_t first_granule = 0;  // within the stripe
  };

  ObjectPlan() = default;
  std::size_t span_index(std::uint64_t linear) const noexcept {
    return last_at_or_before(spans_, linear, total_bytes_);
  }

  std::shared_ptr<const ObjectDescriptor> object_;
  std::vector<Part> parts_;
  std::vector<Stripe> stripes_;
  std::vector<std::uint32_t> owner_nodes_;
  std::uint64_t granule_bits_ = 0;
};

/// Plans the read of `demand` from where `sources` say that the stripes lie: a source for each node
/// that has any of them. Descriptor and sources come from peers and are checked here in full (I5);
/// each stripe must lie in one region of its node (I4). Cost grows with stripes, ranges and READs.
/// Fails with kProtocol (descriptor), kBadRunTable (a source), kTooLarge (a limit),
/// kInvalidArgument (the caller's demand).
Result<ObjectPlan> plan_object_read(std::shared_ptr<const ObjectDescriptor> object,
                                    std::span<const StripeSource> sources,
                                    const ObjectDemand& demand, const PlanLimits& limits);

template <typename F>
void ObjectPlan::for_each_segment(std::uint64_t from, std::uint64_t to, F&& f) const {
  to = std::min(to, total_bytes_);
  if (from >= to) return;
  for (std::size_t i = span_index(from); i < spans_.size() && spans_[i].linear < to; ++i) {
    const Span& span = spans_[i];
    const std::uint64_t skipped =
        from > span.linear ? (from - span.linear) / kGranuleBytes * kGranuleBytes : 0;
    const std::uint64_t end = std::min(to - span.linear, span.length);
    for (std::uint64_t at = skipped; at < end; at += kGranuleBytes) {
      const auto granule = parts_[i].first_granule + static_cast<std::uint32_t>(at / kGranuleBytes);
      const auto bytes = static_cast<std::uint32_t>(std::min(kGranuleBytes, span.length - at));
      f(parts_[i].stripe, granule, span.linear + at, bytes);
    }
  }
}

}  // namespace corail
