// Where the stripes lie at their owners, and in what order the plan reads them.
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/base/check.h"
#include "engine/plan/object_planner.h"

namespace corail {

Result<void> ObjectPlanner::place(std::uint32_t source, const StripeSource::Stripe& stripe) {
  const StripeSource& from = sources_[source];
  if (stripe.index >= object_.chunks.size() || object_.chunks[stripe.index].node != from.node) {
    return Error(Errc::kBadRunTable,
                 fmt::format("node {} offers stripe {} of '{}', which is not its own by the "
                             "object's descriptor",
                             from.node, stripe.index, object_.key));
  }
  Place& place = places_[stripe.index];
  const std::uint64_t length = object_.chunks[stripe.index].length;
  const std::ptrdiff_t region = from.regions->find(stripe.address, length);
  if (place.source != kNoSource || region < 0) {
    return Error(
        Errc::kBadRunTable,
        fmt::format("node {} offers stripe {} of '{}', {} bytes at {:#x}, twice or outside "
                    "of its memory regions",
                    from.node, stripe.index, object_.key, length, stripe.address));
  }
  place.source = source;
  place.region = static_cast<std::uint32_t>(region);
  place.address = stripe.address;
  return ok_result();
}

Result<void> ObjectPlanner::place_stripes() {
  places_.resize(object_.chunks.size());
  for (std::uint32_t source = 0; source < sources_.size(); ++source) {
    CORAIL_CHECK(sources_[source].regions != nullptr, "a source of stripes has a region table");
    const auto before = sources_.first(source);
    if (std::ranges::find(before, sources_[source].node, &StripeSource::node) != before.end()) {
      return Error(Errc::kBadRunTable,
                   fmt::format("node {} of '{}' says twice where its stripes are",
                               sources_[source].node, object_.key));
    }
    for (const StripeSource::Stripe& stripe : sources_[source].stripes) {
      auto placed = place(source, stripe);
      if (!placed) return placed;
    }
  }
  return ok_result();
}

Result<void> ObjectPlanner::cut_at_stripes() {
  std::uint64_t packed = 0;
  for (const ObjectLanding& landing : landings_) {
    const std::uint64_t end = landing.range.offset + landing.range.length;
    for (std::uint64_t at = landing.range.offset; at < end;) {
      Cut cut;
      cut.stripe = static_cast<std::uint32_t>(at / object_.stripe_size);
      const std::uint64_t stripe_begin = cut.stripe * object_.stripe_size;
      const std::uint64_t stripe_end = stripe_begin + object_.chunks[cut.stripe].length;
      cut.range = {at, std::min(end, stripe_end) - at};
      cut.source = places_[cut.stripe].source;
      cut.chunk = landing.chunk;
      cut.chunk_offset = landing.chunk_offset + (at - landing.range.offset);
      cut.copy_offset = packed;
      if (cut.source == kNoSource) {
        return Error(Errc::kBadRunTable,
                     fmt::format("node {} does not say where stripe {} of '{}' is",
                                 object_.chunks[cut.stripe].node, cut.stripe, object_.key));
      }
      at += cut.range.length;
      packed += cut.range.length;
      cuts_.push_back(cut);
    }
  }
  if (cuts_.size() <= limits_.max_intervals) return ok_result();
  return Error(Errc::kTooLarge, fmt::format("the read has {} parts, more than the {} that one read "
                                            "may; read the object in ranges",
                                            cuts_.size(), limits_.max_intervals));
}

void ObjectPlanner::lay_out() {
  std::ranges::stable_sort(cuts_, {}, &Cut::source);
  plan_.spans_.reserve(cuts_.size());
  plan_.parts_.reserve(cuts_.size());
  for (std::size_t i = 0; i < cuts_.size(); ++i) {
    if (i == 0 || cuts_[i].source != cuts_[i - 1].source) {
      plan_.owner_nodes_.push_back(sources_[cuts_[i].source].node);
      plan_.owner_ends_.push_back(0);
    }
    count_granules(cuts_[i]);
    add_span(cuts_[i]);
  }
  const std::uint64_t laid_out =
      plan_.spans_.empty() ? 0 : plan_.spans_.back().linear + plan_.spans_.back().length;
  CORAIL_CHECK(laid_out == plan_.total_bytes_, "I3: a plan reads what was asked for, no more");
}

void ObjectPlanner::count_granules(const Cut& cut) {
  const std::uint64_t begin = cut.range.offset % object_.stripe_size;
  const auto first = static_cast<std::uint32_t>(begin / kGranuleBytes);
  const auto end =
      static_cast<std::uint32_t>((begin + cut.range.length + kGranuleBytes - 1) / kGranuleBytes);
  if (plan_.stripes_.empty() || plan_.stripes_.back().index != cut.stripe) {
    ObjectPlan::Stripe stripe;
    stripe.index = cut.stripe;
    stripe.first_granule = first;
    stripe.first_bit = plan_.granule_bits_;
    plan_.stripes_.push_back(stripe);
  }
  ObjectPlan::Stripe& stripe = plan_.stripes_.back();
  stripe.end_granule = end;
  stripe.granules += end - first;
  stripe.bytes += cut.range.length;
  stripe.whole = stripe.bytes == object_.chunks[cut.stripe].length;
  plan_.granule_bits_ = stripe.first_bit + (stripe.end_granule - stripe.first_granule);
}

void ObjectPlanner::add_span(const Cut& cut) {
  const Place& place = places_[cut.stripe];
  const Region& region = sources_[cut.source].regions->regions()[place.region];
  ReadPlan::Span span;
  if (!plan_.spans_.empty()) {
    span.linear = plan_.spans_.back().linear + plan_.spans_.back().length;
  }
  const std::uint64_t within = cut.range.offset % object_.stripe_size;
  span.length = cut.range.length;
  span.remote_address = place.address + within;
  span.remote_offset = span.remote_address - region.base;
  span.chunk_offset = cut.chunk_offset;
  span.region = place.region;
  span.chunk = cut.chunk;
  span.region_id = region.id;
  plan_.spans_.push_back(span);
  plan_.parts_.push_back({cut.range.offset, cut.copy_offset,
                          static_cast<std::uint32_t>(plan_.stripes_.size() - 1),
                          static_cast<std::uint32_t>(within / kGranuleBytes)});
  const std::uint64_t end = span.linear + span.length;
  plan_.owner_ends_.back() = end;
  for (std::uint64_t from = span.linear; from < end; ++plan_.reads_planned_) {
    from = plan_.cut_in(span, from, plan_.max_read_bytes_, plan_.max_read_bytes_);
  }
}

Result<ObjectPlan> plan_object_read(std::shared_ptr<const ObjectDescriptor> object,
                                    std::span<const StripeSource> sources,
                                    const ObjectDemand& demand, const PlanLimits& limits) {
  return ObjectPlanner(std::move(object), sources, demand, limits).make();
}

}  // namespace corail
