#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/plan/object_plan.h"

namespace corail {

/// Makes one ObjectPlan; lives on the stack of plan_object_read.
///
/// The demand becomes landings, which are cut at the borders of stripes; the cuts are sorted by
/// owner and laid out in that order.
class ObjectPlanner {
 public:
  ObjectPlanner(std::shared_ptr<const ObjectDescriptor> object,
                std::span<const StripeSource> sources, const ObjectDemand& demand,
                const PlanLimits& limits);

  Result<ObjectPlan> make();

 private:
  static constexpr std::uint32_t kNoSource = ~std::uint32_t{0};

  /// Where a stripe lies.
  struct Place {
    std::uint32_t source = kNoSource;
    std::uint32_t region = 0;  // index in the source's region table
    std::uint64_t address = 0;
  };
  /// A part of one stripe that lands in one place.
  struct Cut {
    ObjectRange range;
    std::uint32_t source = 0;
    std::uint32_t stripe = 0;
    std::uint32_t chunk = 0;
    std::uint64_t chunk_offset = 0;
    std::uint64_t copy_offset = 0;
  };

  Result<void> check_ranges();
  Result<void> check_landings();
  Result<void> check_chunks() const;
  void land_densely();
  Result<void> place_stripes();
  Result<void> place(std::uint32_t source, const StripeSource::Stripe& stripe);
  Result<void> cut_at_stripes();
  void lay_out();
  void add_span(const Cut& cut);
  void count_granules(const Cut& cut);

  const ObjectDescriptor& object_;
  const std::span<const StripeSource> sources_;
  const ObjectDemand& demand_;
  const PlanLimits limits_;
  ObjectPlan plan_;
  std::vector<ObjectLanding> landings_;
  std::vector<Place> places_;  // by stripe of the object
  std::vector<Cut> cuts_;
};

}  // namespace corail
