#include "rpc/object_want.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "engine/object/descriptor_check.h"
#include "engine/object/placement.h"

namespace corail {
namespace {

/// Granules that are asked for only so that wrong bytes can be blamed on a rail: 128 KiB of
/// checksums, for objects of up to 4 GiB.
constexpr std::uint64_t kMaxGranulesForBlame = 16'384;

Error wrong(std::string what) {
  return Error(Errc::kInvalidArgument, Stage::kPlan, std::move(what));
}

Result<void> take_ranges(const ObjectDescriptor& object, const ReadObjectOptions& options,
                         ObjectWant& want) {
  want.asked = options.ranges;
  if (want.asked.empty() && object.size > 0) want.asked.push_back({0, object.size});
  if (want.asked.size() > kMaxObjectRanges) {
    return wrong(fmt::format("{} ranges are more than the {} that one read may have",
                             want.asked.size(), kMaxObjectRanges));
  }
  std::uint64_t end = 0;
  for (const ObjectRange& range : want.asked) {
    const bool inside = range.offset <= object.size && range.length <= object.size - range.offset;
    if (range.length == 0 || !inside || range.offset < end) {
      return wrong(
          fmt::format("the range of {} bytes at {} of '{}', which has {} bytes, must be "
                      "inside, not empty, and behind the range before it",
                      range.length, range.offset, object.key, object.size));
    }
    end = range.offset + range.length;
    want.asked_bytes += range.length;
  }
  if (!options.copy_on_commit || options.copy_on_commit->size() >= want.asked_bytes) {
    return ok_result();
  }
  return wrong(fmt::format("the memory for the copy has {} bytes, what was asked for has {}",
                           options.copy_on_commit->size(), want.asked_bytes));
}

/// Ranges in one granule become one.
void widen(const ObjectDescriptor& object, ObjectWant& want) {
  auto& ranges = want.demand.ranges;
  for (const ObjectRange& range : want.asked) {
    const ObjectRange wide = whole_granules(range, object.size);
    if (!ranges.empty() && wide.offset < ranges.back().offset + ranges.back().length) {
      ObjectRange& last = ranges.back();
      last.length = std::max(last.offset + last.length, wide.offset + wide.length) - last.offset;
    } else {
      ranges.push_back(wide);
    }
  }
  for (const ObjectRange& range : ranges) want.read_bytes += range.length;
}

Result<void> find_owner(const ObjectDescriptor& object, NodeId owner, ObjectWant& want) {
  const auto found = std::ranges::find(object.nodes, owner, &ObjectNode::id);
  want.node = static_cast<std::uint32_t>(found - object.nodes.begin());
  for (std::uint32_t i = 0; i < object.chunks.size(); ++i) {
    if (object.chunks[i].node == want.node) want.stripes.push_back(i);
  }
  for (const ObjectRange& range : want.demand.ranges) {
    const std::uint64_t last = (range.offset + range.length - 1) / object.stripe_size;
    for (std::uint64_t i = range.offset / object.stripe_size; i <= last; ++i) {
      if (object.chunks[i].node == want.node) continue;
      const ObjectNode& other = object.nodes[object.chunks[i].node];
      return wrong(
          fmt::format("stripe {} of '{}' is not on this peer but on the node at {}; look "
                      "the object up again, or read that range there",
                      i, object.key, other.addresses.front()));
    }
  }
  return ok_result();
}

std::uint64_t granules_in(const ObjectDescriptor& object, std::uint32_t stripe) {
  return granules_of(object.chunks[stripe].length);
}

/// A stripe that is read in part is verified by its granules; for the others they tell which rail
/// brought what is wrong.
void choose_granules(const ObjectDescriptor& object, ObjectWant& want) {
  std::vector<std::uint32_t> in_part;
  std::vector<std::uint32_t> touched;
  std::uint64_t all = 0;
  for (const ObjectRange& range : want.demand.ranges) {
    const std::uint64_t end = range.offset + range.length;
    for (std::uint64_t at = range.offset; at < end;) {
      const auto stripe = static_cast<std::uint32_t>(at / object.stripe_size);
      const std::uint64_t begin = stripe * object.stripe_size;
      const std::uint64_t stripe_end = begin + object.chunks[stripe].length;
      const bool whole = at == begin && stripe_end <= end;
      if (!whole && (in_part.empty() || in_part.back() != stripe)) in_part.push_back(stripe);
      if (touched.empty() || touched.back() != stripe) {
        touched.push_back(stripe);
        all += granules_in(object, stripe);
      }
      at = std::min(end, stripe_end);
    }
  }
  want.granules_of = std::move(all <= kMaxGranulesForBlame ? touched : in_part);
  for (const std::uint32_t stripe : want.granules_of) want.granules += granules_in(object, stripe);
}

}  // namespace

Result<ObjectWant> want_of(const ObjectDescriptor& object, NodeId owner,
                           const ReadObjectOptions& options) {
  ObjectWant want;
  auto step = check_descriptor(object);
  if (step && options.deadline <= Duration::zero()) {
    step = wrong("the deadline of a read must be positive");
  }
  if (step) step = take_ranges(object, options, want);
  if (!step) return std::move(step).error().at(Stage::kPlan);
  widen(object, want);
  step = find_owner(object, owner, want);
  if (!step) return std::move(step).error();
  if (options.integrity == Integrity::kXxh3) choose_granules(object, want);
  return want;
}

ObjectExpectation expectation_of(const ObjectDescriptor& object, const ObjectWant& want,
                                 const std::vector<std::uint64_t>& granules) {
  ObjectExpectation expected;
  expected.granules.resize(object.chunks.size());
  auto next = granules.begin();
  for (const std::uint32_t stripe : want.granules_of) {
    const auto end = next + static_cast<std::ptrdiff_t>(granules_in(object, stripe));
    expected.granules[stripe].assign(next, end);
    next = end;
  }
  return expected;
}

}  // namespace corail
