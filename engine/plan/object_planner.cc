#include "engine/plan/object_planner.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/object/descriptor_check.h"

namespace corail {
namespace {

/// Stripes of all owners, and of all their memory, fill a chunk: none of it says where it should
/// be.
constexpr std::int32_t kAnyNode = -1;

Error demand_is_wrong(const std::string& what) {
  return Error(Errc::kInvalidArgument, Stage::kPlan, what);
}

/// Whether [range) is not empty, lies in the object and ends with granules.
bool of_whole_granules(const ObjectRange& range, std::uint64_t size) noexcept {
  if (range.length == 0 || range.offset >= size || range.length > size - range.offset) return false;
  const std::uint64_t end = range.offset + range.length;
  return range.offset % kGranuleBytes == 0 && (end % kGranuleBytes == 0 || end == size);
}

}  // namespace

ObjectPlanner::ObjectPlanner(std::shared_ptr<const ObjectDescriptor> object,
                             std::span<const StripeSource> sources, const ObjectDemand& demand,
                             const PlanLimits& limits)
    : object_(*object), sources_(sources), demand_(demand), limits_(limits) {
  plan_.object_ = std::move(object);
  plan_.max_read_bytes_ = std::min(limits.max_read_bytes, limits.max_chunk_bytes);
}

Result<ObjectPlan> ObjectPlanner::make() {
  if (limits_.max_read_bytes == 0 || limits_.max_chunk_bytes < kGranuleBytes) {
    return demand_is_wrong(
        fmt::format("READs of {} bytes and chunks of {}: a chunk must hold a "
                    "granule of {} bytes, and a READ something",
                    limits_.max_read_bytes, limits_.max_chunk_bytes, kGranuleBytes));
  }
  auto step = check_descriptor(object_);
  if (step) step = check_ranges();
  if (step) step = check_landings();
  if (step) step = place_stripes();
  if (step) step = cut_at_stripes();
  if (!step) return std::move(step).error().at(Stage::kPlan);
  lay_out();
  return std::move(plan_);
}

Result<void> ObjectPlanner::check_ranges() {
  std::uint64_t end = 0;
  for (const ObjectRange& range : demand_.ranges) {
    if (!of_whole_granules(range, object_.size) || range.offset < end) {
      return demand_is_wrong(fmt::format(
          "the range of {} bytes at {} of an object of {} must be behind the range before it, not "
          "empty, inside the object, and made of whole granules of {} bytes; widen it",
          range.length, range.offset, object_.size, kGranuleBytes));
    }
    end = range.offset + range.length;
    plan_.total_bytes_ += range.length;
  }
  if (plan_.total_bytes_ <= limits_.max_total_bytes) return ok_result();
  return Error(Errc::kTooLarge, Stage::kPlan,
               fmt::format("the read needs {} bytes, more than the {} that one read may; read the "
                           "object in ranges",
                           plan_.total_bytes_, limits_.max_total_bytes));
}

void ObjectPlanner::land_densely() {
  const std::uint64_t most = limits_.max_chunk_bytes / kGranuleBytes * kGranuleBytes;
  for (const ObjectRange& range : demand_.ranges) {
    std::uint64_t at = range.offset;
    const std::uint64_t end = range.offset + range.length;
    while (at < end) {
      if (plan_.chunks_.empty() || plan_.chunks_.back().bytes == most) {
        plan_.chunks_.push_back({0, 0, kAnyNode});
      }
      ChunkSpec& chunk = plan_.chunks_.back();
      const std::uint64_t length = std::min(end - at, most - chunk.bytes);
      landings_.push_back(
          {{at, length}, static_cast<std::uint32_t>(plan_.chunks_.size() - 1), chunk.bytes});
      chunk.bytes += length;
      at += length;
    }
  }
}

Result<void> ObjectPlanner::check_landings() {
  if (demand_.landings.empty()) {
    land_densely();
    return ok_result();
  }
  landings_ = demand_.landings;
  for (const std::uint64_t bytes : demand_.chunk_bytes)
    plan_.chunks_.push_back({0, bytes, kAnyNode});
  auto range = demand_.ranges.begin();
  std::uint64_t covered = 0;  // of the range
  for (const ObjectLanding& landing : landings_) {
    if (range != demand_.ranges.end() && covered == range->length) {
      ++range;
      covered = 0;
    }
    if (range == demand_.ranges.end() || !of_whole_granules(landing.range, object_.size) ||
        landing.range.offset != range->offset + covered ||
        landing.range.length > range->length - covered) {
      return demand_is_wrong(fmt::format(
          "the landing of {} bytes at {} of the object does not go on where the one before it "
          "ended, passes the end of its range, or is not made of whole granules",
          landing.range.length, landing.range.offset));
    }
    covered += landing.range.length;
  }
  if (demand_.ranges.empty() || ++range != demand_.ranges.end() ||
      covered != demand_.ranges.back().length) {
    return demand_is_wrong("the landings do not cover the ranges to their end");
  }
  return check_chunks();
}

/// Each landing lies in its chunk, and no two on one byte.
Result<void> ObjectPlanner::check_chunks() const {
  std::vector<ObjectLanding> sorted = landings_;
  std::ranges::sort(sorted, {}, [](const ObjectLanding& landing) {
    return std::pair(landing.chunk, landing.chunk_offset);
  });
  std::uint32_t chunk = 0;
  std::uint64_t end = 0;
  for (const ObjectLanding& landing : sorted) {
    if (landing.chunk != chunk) end = 0;
    chunk = landing.chunk;
    const std::uint64_t bytes = chunk < demand_.chunk_bytes.size() ? demand_.chunk_bytes[chunk] : 0;
    if (landing.chunk_offset < end || landing.chunk_offset > bytes ||
        landing.range.length > bytes - landing.chunk_offset) {
      return demand_is_wrong(fmt::format(
          "{} bytes of the object shall land at {} of chunk {}, which has {} bytes; there is no "
          "such place, or another landing is there",
          landing.range.length, landing.chunk_offset, chunk, bytes));
    }
    end = landing.chunk_offset + landing.range.length;
  }
  return ok_result();
}

}  // namespace corail
