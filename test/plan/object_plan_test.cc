#include "engine/plan/object_plan.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/random.h"
#include "engine/plan/slice_cursor.h"
#include "test/plan/object_scenario.h"

namespace corail::testing {
namespace {

std::uint64_t granule_length(const ObjectScenario& it, std::uint64_t offset) {
  return std::min<std::uint64_t>(kGranuleBytes, it.object->size - offset);
}

/// Where the byte at `address` of the node is in the object, by its stripes.
std::uint64_t offset_of(const ObjectScenario& it, std::uint32_t node, std::uint64_t address) {
  for (const auto& stripe : it.sources[node].stripes) {
    const std::uint64_t length = it.object->chunks[stripe.index].length;
    if (address >= stripe.address && address - stripe.address < length) {
      return stripe.index * it.object->stripe_size + (address - stripe.address);
    }
  }
  return ~std::uint64_t{0};
}

/// What is wrong with a span, seen granule by granule from the node's memory. Takes from `places`
/// what it brings.
std::string check_span(const ObjectScenario& it, const ObjectPlan& plan, std::uint32_t node,
                       const ReadPlan::Span& span, GranulePlaces& places) {
  const Region& region = it.regions[node]->regions()[span.region];
  if (region.id != span.region_id || span.remote_address - region.base != span.remote_offset ||
      span.remote_offset + span.length > region.length) {
    return "a span is not in its region";
  }
  for (std::uint64_t at = 0; at < span.length; at += kGranuleBytes) {
    const std::uint64_t offset = offset_of(it, node, span.remote_address + at);
    const auto wanted = places.find(offset);
    if (wanted == places.end()) return "bytes that nobody wants, or twice";
    if (wanted->second != std::pair(span.chunk, span.chunk_offset + at)) return "bytes shift";
    if (plan.object_offset(span.linear + at) != offset) return "a wrong offset in the object";
    places.erase(wanted);
    if (at + granule_length(it, offset) > span.length) return "a granule in parts";
  }
  return "";
}

std::string check_plan(const ObjectScenario& it, const ObjectPlan& plan) {
  GranulePlaces places = wanted_places(it);
  std::uint64_t linear = 0;
  std::size_t owner = 0;
  std::set<std::uint32_t> nodes;
  for (std::size_t i = 0; plan.total_bytes() > 0 && i < plan.owners(); ++i) {
    if (!nodes.insert(plan.owner_node(i)).second) return "an owner twice";
  }
  for (const ReadPlan::Span& span : plan.spans()) {
    if (span.linear != linear || span.length == 0) return "a gap in the linear space";
    while (span.linear >= plan.owner_end(owner)) ++owner;
    if (span.linear + span.length > plan.owner_end(owner)) return "a span of two owners";
    const std::string wrong = check_span(it, plan, plan.owner_node(owner), span, places);
    if (!wrong.empty()) return wrong;
    if (plan.chunks()[span.chunk].bytes < span.chunk_offset + span.length) return "past a chunk";
    linear += span.length;
  }
  if (linear != plan.total_bytes()) return "the end is missing";
  return places.empty() ? "" : "bytes are missing";
}

/// All granules come once, with their stripe, and the stripes' counts are right.
std::string check_granules(const ObjectScenario& it, const ObjectPlan& plan) {
  std::vector<std::uint32_t> counts(plan.stripes().size());
  std::vector<std::uint64_t> bytes(plan.stripes().size());
  std::string wrong;
  plan.for_each_segment(
      0, plan.total_bytes(),
      [&](std::uint32_t stripe, std::uint32_t granule, std::uint64_t linear, std::uint32_t length) {
        const ObjectPlan::Stripe& of = plan.stripes()[stripe];
        const std::uint64_t offset =
            of.index * it.object->stripe_size + granule * std::uint64_t{kGranuleBytes};
        if (plan.object_offset(linear) != offset) wrong = "a granule is elsewhere";
        if (length != granule_length(it, offset)) wrong = "a granule has a wrong length";
        if (granule < of.first_granule || granule >= of.end_granule) wrong = "out of the stripe";
        ++counts[stripe];
        bytes[stripe] += length;
      });
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const ObjectPlan::Stripe& stripe = plan.stripes()[i];
    if (counts[i] != stripe.granules || bytes[i] != stripe.bytes) wrong = "a wrong count";
    if (stripe.whole != (bytes[i] == it.object->chunks[stripe.index].length)) wrong = "not whole";
  }
  return wrong;
}

BOOST_AUTO_TEST_SUITE(object_plan)

BOOST_AUTO_TEST_CASE(every_wanted_byte_is_read_once_and_lands_where_it_shall) {
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    const ObjectScenario it = random_object(seed);
    const auto plan = it.plan();
    BOOST_REQUIRE_MESSAGE(plan.ok(), "seed " << seed);
    const std::string wrong = check_plan(it, *plan) + check_granules(it, *plan);
    BOOST_REQUIRE_MESSAGE(wrong.empty(), "seed " << seed << ": " << wrong);
  }
}

BOOST_AUTO_TEST_CASE(owners_have_their_names_and_memory_may_be_anywhere) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    const ObjectScenario it = random_object(seed);
    const ObjectPlan plan = it.plan().value();
    for (const ChunkSpec& chunk : plan.chunks()) BOOST_TEST(chunk.numa_node == -1);
    for (std::size_t i = 0; plan.total_bytes() > 0 && i < plan.owners(); ++i) {
      BOOST_TEST((plan.owner_id(i) == it.object->nodes[plan.owner_node(i)].id));
    }
    BOOST_TEST(!plan.owner_id(plan.owners()).has_value());
  }
}

BOOST_AUTO_TEST_CASE(slices_end_on_granules_and_in_one_stripe) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const ObjectScenario it = random_object(seed);
    const ObjectPlan plan = it.plan().value();
    SeededRandom random(seed);
    const std::uint64_t max_slice = (1 + random.below(6)) * kGranuleBytes;
    std::uint64_t linear = 0;
    for (std::size_t owner = 0; owner < plan.owners(); ++owner) {
      const auto rails = static_cast<std::uint32_t>(1 + random.below(8));
      SliceCursor cursor(plan, owner, max_slice, kSliceFloorBytes, rails);
      while (const auto cut = cursor.take(kGranuleBytes + random.below(8 * kGranuleBytes))) {
        BOOST_REQUIRE_EQUAL(cut->linear, linear);
        linear += cut->length;
        const std::uint64_t offset = plan.object_offset(cut->linear);
        const std::uint64_t end = offset + cut->length;
        BOOST_REQUIRE(offset % kGranuleBytes == 0);
        BOOST_REQUIRE(end % kGranuleBytes == 0 || end == it.object->size);
        BOOST_REQUIRE_EQUAL(offset / it.object->stripe_size, (end - 1) / it.object->stripe_size);
        BOOST_REQUIRE(cut->length <= max_slice);
        BOOST_REQUIRE_EQUAL(cursor.remaining(), plan.owner_end(owner) - linear);
      }
      BOOST_REQUIRE_EQUAL(linear, plan.owner_end(owner));
    }
    BOOST_REQUIRE_EQUAL(linear, plan.total_bytes());
  }
}

BOOST_AUTO_TEST_CASE(a_rail_of_tiny_slices_cuts_inside_granules) {
  SeededRandom random(1);
  ObjectScenario it;
  it.object = object_over(kGranuleBytes + 7, kGranuleBytes, 1, random);
  place_stripes(it, random);
  it.demand = ObjectDemand::whole(it.object->size);
  const ObjectPlan plan = it.plan().value();
  BOOST_TEST(plan.cut(0, 1000) == 1000U);
  BOOST_TEST(plan.cut(0, 1000, kGranuleBytes) == kGranuleBytes);
  BOOST_TEST(plan.cut(1000, kGranuleBytes) == kGranuleBytes);
  BOOST_TEST(plan.cut(kGranuleBytes, 3) == kGranuleBytes + 3);
  BOOST_TEST(plan.cut(kGranuleBytes, 3, 7) == kGranuleBytes + 7);
}

BOOST_AUTO_TEST_CASE(a_copy_has_the_ranges_one_after_the_other) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const ObjectScenario it = random_object(seed);
    const ObjectPlan plan = it.plan().value();
    GranulePlaces places = wanted_places(it);
    std::vector<std::uint64_t> wanted;  // offsets in the object, by granule of the copy
    std::vector<std::uint64_t> starts;
    std::uint64_t packed = 0;
    for (const auto& [offset, place] : places) {
      wanted.push_back(offset);
      starts.push_back(packed);
      packed += granule_length(it, offset);
    }
    std::uint64_t copied = 0;
    SeededRandom random(seed);
    for (std::uint64_t from = 0; from < plan.total_bytes();) {
      const std::uint64_t to = std::min(from + 1 + random.below(600'000), plan.total_bytes());
      plan.for_each_copy(from, to, [&](const ReadPlan::CopyPiece& piece) {
        copied += piece.length;
        const auto after = std::ranges::upper_bound(starts, piece.copy_offset);
        const auto i = static_cast<std::size_t>(after - starts.begin()) - 1;
        const auto [chunk, offset] = places[wanted[i]];
        BOOST_REQUIRE_EQUAL(piece.chunk, chunk);
        BOOST_REQUIRE_EQUAL(piece.chunk_offset, offset + (piece.copy_offset - starts[i]));
      });
      from = to;
    }
    BOOST_REQUIRE_EQUAL(copied, plan.copy_bytes());
  }
}

BOOST_AUTO_TEST_CASE(ranges_are_widened_to_whole_granules_of_the_object) {
  constexpr std::uint64_t kSize = 3 * kGranuleBytes + 5;
  const auto widened = [](std::uint64_t offset, std::uint64_t length) {
    return whole_granules({offset, length}, kSize);
  };
  BOOST_TEST((widened(0, 1) == ObjectRange{0, kGranuleBytes}));
  BOOST_TEST((widened(kGranuleBytes - 1, 2) == ObjectRange{0, 2 * kGranuleBytes}));
  BOOST_TEST((widened(kGranuleBytes, kGranuleBytes) == ObjectRange{kGranuleBytes, kGranuleBytes}));
  BOOST_TEST((widened(3 * kGranuleBytes + 1, 2) == ObjectRange{3 * kGranuleBytes, 5}));
  BOOST_TEST((widened(0, kSize) == ObjectRange{0, kSize}));
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_refused_with_a_reason) {
  struct Case {
    std::function<void(ObjectScenario&, ObjectDescriptor&)> spoil;
    Errc code;
    std::string named;
  };
  constexpr std::uint64_t kMost = ~std::uint64_t{0};
  const Case cases[] = {
      {[](auto&, auto& o) { o.chunks[2].length = 1; }, Errc::kProtocol, "stripe 2 has 1 bytes"},
      {[](auto& s, auto&) { s.sources[0].stripes.pop_back(); }, Errc::kBadRunTable, "does not say"},
      {[](auto& s, auto&) { s.sources.clear(); }, Errc::kBadRunTable, "does not say"},
      {[](auto& s, auto&) { s.sources[0].stripes[0].index = 99; }, Errc::kBadRunTable, "its own"},
      {[](auto& s, auto&) { s.sources[0].node = 1; }, Errc::kBadRunTable, "its own"},
      {[](auto& s, auto&) { s.sources[0].stripes[0].address = kMost; }, Errc::kBadRunTable, "outs"},
      {[](auto& s, auto&) { s.sources[0].stripes[1] = s.sources[0].stripes[0]; },
       Errc::kBadRunTable, "twice"},
      {[](auto& s, auto&) {
         s.sources[1] = s.sources[0];
         s.sources[1].stripes.erase(s.sources[1].stripes.begin());
         s.sources[0].stripes.resize(1);
       },
       Errc::kBadRunTable, "twice where"},
      {[](auto& s, auto&) { s.demand.ranges[0].length = 0; }, Errc::kInvalidArgument, "not empty"},
      {[](auto& s, auto&) { s.demand.ranges[0].offset = 1; }, Errc::kInvalidArgument, "granules"},
      {[](auto& s, auto&) { s.demand.ranges[0].length = kMost; }, Errc::kInvalidArgument, "inside"},
      {[](auto& s, auto&) {
         s.demand.ranges.push_back({0, kGranuleBytes});
       },
       Errc::kInvalidArgument, "behind"},
      {[](auto& s, auto&) { s.limits.max_total_bytes = kGranuleBytes; }, Errc::kTooLarge, "range"},
      {[](auto& s, auto&) { s.limits.max_intervals = 1; }, Errc::kTooLarge, "2 parts"},
      {[](auto& s, auto&) { s.limits.max_chunk_bytes = 1000; }, Errc::kInvalidArgument, "granule"},
      {[](auto& s, auto&) {
         s.demand.landings.push_back({{0, 4 * kGranuleBytes}, 0, 0});
       },
       Errc::kInvalidArgument, "no such place"},
      {[](auto& s, auto&) {
         s.demand.chunk_bytes = {8 * kGranuleBytes};
         s.demand.landings.push_back({{0, kGranuleBytes}, 0, 0});
       },
       Errc::kInvalidArgument, "to their end"},
      {[](auto& s, auto&) {
         s.demand.chunk_bytes = {8 * kGranuleBytes};
         s.demand.landings = {{{0, kGranuleBytes}, 0, 0},
                              {{kGranuleBytes, 3 * kGranuleBytes}, 0, kGranuleBytes - 1}};
       },
       Errc::kInvalidArgument, "another landing"},
      {[](auto& s, auto&) {
         s.demand.chunk_bytes = {8 * kGranuleBytes};
         s.demand.landings = {{{0, kGranuleBytes}, 0, 0},
                              {{2 * kGranuleBytes, 2 * kGranuleBytes}, 0, kGranuleBytes}};
       },
       Errc::kInvalidArgument, "does not go on"},
  };
  for (const Case& one : cases) {
    SeededRandom random(1);
    ObjectScenario it;
    const auto object = object_over(6 * kGranuleBytes, 2 * kGranuleBytes, 1, random);
    object->nodes.push_back({NodeId(9), {"b:1"}});
    it.object = object;
    place_stripes(it, random);
    // Sorted, so that what is taken away is a stripe that is asked for.
    std::ranges::sort(it.sources[0].stripes, std::greater<>(), &StripeSource::Stripe::index);
    it.demand.ranges = {{0, 4 * kGranuleBytes}};
    one.spoil(it, *object);
    const auto plan = it.plan();
    BOOST_TEST_CONTEXT(one.named) {
      BOOST_REQUIRE(!plan.ok());
      BOOST_TEST((plan.error().code() == one.code), plan.error().to_string());
      BOOST_TEST(plan.error().detail().find(one.named) != std::string::npos, plan.error().detail());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::testing
