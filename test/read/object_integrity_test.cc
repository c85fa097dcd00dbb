#include "engine/read/object_integrity.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/random.h"
#include "engine/plan/slice_cursor.h"
#include "test/read/held_object.h"

namespace corail::test {
namespace {

/// An object, its plan, and a destination that holds what the reads would bring.
struct LandedObject {
  /// Random, of all or of one granule.
  LandedObject(std::uint64_t seed, bool ranges)
      : random(seed),
        held(1 + random.below(8 * kGranuleBytes), (1 + random.below(3)) * kGranuleBytes,
             static_cast<std::uint32_t>(1 + random.below(3)), seed) {
    ObjectDemand demand = ObjectDemand::whole(held.content.size());
    if (ranges) {
      demand.ranges = {whole_granules({random.below(held.content.size()), 1}, held.content.size())};
    }
    land(demand);
  }
  /// One stripe of so many granules.
  explicit LandedObject(std::uint64_t granules)
      : random(1), held(granules * kGranuleBytes, granules * kGranuleBytes, 1, 1) {
    land(ObjectDemand::whole(held.content.size()));
  }

  void land(const ObjectDemand& demand) {
    plan = held.plan(demand, PlanLimits());
    for (const ChunkSpec& chunk : plan->chunks()) memory.emplace_back(chunk.bytes);
    for (auto& chunk : memory) bases.push_back(chunk.data());
    for (const ReadPlan::Span& span : plan->spans()) {
      const auto from =
          held.content.begin() + static_cast<std::ptrdiff_t>(plan->object_offset(span.linear));
      std::copy_n(from, span.length, bases[span.chunk] + span.chunk_offset);
    }
  }

  std::byte& at(std::uint64_t linear) {
    const ReadPlan::Span& span = plan->span_at(linear);
    return bases[span.chunk][span.chunk_offset + (linear - span.linear)];
  }

  SeededRandom random;
  HeldObject held;
  std::shared_ptr<const ObjectPlan> plan;
  std::vector<std::vector<std::byte>> memory;
  std::vector<std::byte*> bases;
};

struct Slice {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
};

/// Slices of any length, also inside granules, in any order.
std::vector<Slice> slices_of(const ObjectPlan& plan, SeededRandom& random) {
  std::vector<Slice> slices;
  for (std::size_t owner = 0; owner < plan.owners(); ++owner) {
    SliceCursor cursor(plan, owner, 3 * kGranuleBytes, kSliceFloorBytes, 2);
    while (const auto cut = cursor.take(1000 + random.below(2 * kGranuleBytes))) {
      slices.push_back({cut->linear, cut->linear + cut->length});
    }
  }
  for (std::size_t i = slices.size(); i > 1; --i) {
    std::swap(slices[i - 1], slices[random.below(i)]);
  }
  return slices;
}

void land(LandingVerifier& verifier, const Slice& slice, SeededRandom& random) {
  for (std::uint64_t from = slice.from; from < slice.to;) {
    const std::uint64_t to = std::min(slice.to, from + 1 + random.below(100'000));
    verifier.landed(from, to);
    from = to;
  }
}

struct Verdict {
  Result<void> result;
  std::uint64_t verified = 0;
};

/// Lands all slices over three rails; now and then a slice is flushed and lands over another rail.
Verdict verify(LandedObject& it, ObjectExpectation expected) {
  auto integrity = ObjectIntegrity::make(it.plan, std::move(expected));
  if (!integrity) return {std::move(integrity).error(), 0};
  std::vector<std::unique_ptr<LandingVerifier>> rails;
  std::vector<LandingVerifier*> all;
  for (int i = 0; i < 3; ++i)
    all.push_back(rails.emplace_back((*integrity)->make_verifier(it.bases)).get());
  for (const Slice& slice : slices_of(*it.plan, it.random)) {
    const std::uint64_t first = it.random.below(3);
    land(*all[first], slice, it.random);
    if (it.random.below(4) != 0) continue;
    all[first]->restart(slice.from, slice.to);
    land(*all[it.random.below(3)], slice, it.random);
  }
  const std::vector<std::string> names = {"rail-a", "rail-b", "rail-c"};
  Verdict verdict;
  verdict.result = (*integrity)->join(all, names, verdict.verified);
  return verdict;
}

bool says(const Result<void>& result, const std::string& what) {
  return !result.ok() && result.error().detail().find(what) != std::string::npos;
}

BOOST_AUTO_TEST_SUITE(object_integrity)

BOOST_AUTO_TEST_CASE(stripes_are_verified_in_any_order_of_arrival) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    LandedObject it(seed, seed % 2 == 1);
    const Verdict verdict =
        verify(it, seed % 2 == 1 || seed % 4 == 0 ? it.held.granules() : ObjectExpectation());
    BOOST_REQUIRE_MESSAGE(verdict.result.ok(), "seed " << seed);
    BOOST_REQUIRE_EQUAL(verdict.verified, it.plan->total_bytes());
  }
}

BOOST_AUTO_TEST_CASE(any_flipped_bit_fails_and_its_stripe_is_named) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    LandedObject it(seed, seed % 2 == 1);
    const std::uint64_t flipped = it.random.below(it.plan->total_bytes());
    it.at(flipped) ^= std::byte{4};
    const Verdict verdict =
        verify(it, seed % 2 == 1 || seed % 4 == 0 ? it.held.granules() : ObjectExpectation());
    BOOST_REQUIRE(!verdict.result.ok());
    BOOST_TEST((verdict.result.error().code() == Errc::kChecksumMismatch));
    const auto stripe = it.plan->object_offset(flipped) / it.held.descriptor->stripe_size;
    BOOST_TEST(says(verdict.result, "stripe " + std::to_string(stripe) + " of node"),
               verdict.result.error().detail());
    BOOST_TEST(says(verdict.result, "rail-"));
    BOOST_TEST(verdict.verified < it.plan->total_bytes());
  }
}

BOOST_AUTO_TEST_CASE(the_rail_of_the_wrong_granule_is_named) {
  LandedObject it(5);
  auto integrity = ObjectIntegrity::make(it.plan, it.held.granules());
  BOOST_REQUIRE(integrity.ok());
  const auto first = (*integrity)->make_verifier(it.bases);
  const auto second = (*integrity)->make_verifier(it.bases);
  it.at(kGranuleBytes + 1) ^= std::byte{1};
  first->landed(0, kGranuleBytes);
  second->landed(kGranuleBytes, 2 * kGranuleBytes);
  first->landed(2 * kGranuleBytes, it.plan->total_bytes());
  LandingVerifier* const all[] = {first.get(), second.get()};
  const std::vector<std::string> names = {"rail-a", "rail-b"};
  std::uint64_t verified = 0;
  const auto result = (*integrity)->join(all, names, verified);
  BOOST_TEST(says(result, "granule 1 of it over rail rail-b"), result.error().detail());
}

BOOST_AUTO_TEST_CASE(nobody_is_named_who_had_no_part_of_what_is_wrong) {
  for (const bool granules : {false, true}) {
    LandedObject it(5);
    auto integrity =
        ObjectIntegrity::make(it.plan, granules ? it.held.granules() : ObjectExpectation());
    BOOST_REQUIRE(integrity.ok());
    std::vector<std::unique_ptr<LandingVerifier>> rails;
    std::vector<LandingVerifier*> all;
    for (int i = 0; i < 4; ++i) {
      all.push_back(rails.emplace_back((*integrity)->make_verifier(it.bases)).get());
    }
    // Granule 1 came over two rails, the others over a third one, and nothing over the fourth.
    constexpr std::uint64_t kMiddle = kGranuleBytes + kGranuleBytes / 2;
    it.at(kMiddle) ^= std::byte{1};
    rails[2]->landed(0, kGranuleBytes);
    rails[0]->landed(kGranuleBytes, kMiddle);
    rails[1]->landed(kMiddle, 2 * kGranuleBytes);
    rails[2]->landed(2 * kGranuleBytes, it.plan->total_bytes());
    const std::vector<std::string> names = {"rail-a", "rail-b", "rail-c", "rail-d"};
    std::uint64_t verified = 0;
    const auto result = (*integrity)->join(all, names, verified);
    BOOST_TEST(says(result, "rail-a, rail-b"));
    BOOST_TEST(says(result, "rail-c") == !granules);
    BOOST_TEST(!says(result, "rail-d"));
  }
}

BOOST_AUTO_TEST_CASE(a_granule_that_never_came_is_missed) {
  LandedObject it(5);
  auto integrity = ObjectIntegrity::make(it.plan, ObjectExpectation());
  const auto verifier = (*integrity)->make_verifier(it.bases);
  verifier->landed(kGranuleBytes, it.plan->total_bytes());
  LandingVerifier* const all[] = {verifier.get()};
  const std::vector<std::string> names = {"rail-a"};
  std::uint64_t verified = 0;
  BOOST_TEST(!(*integrity)->join(all, names, verified).ok());
  BOOST_TEST(verified < it.plan->total_bytes());
}

BOOST_AUTO_TEST_CASE(parts_of_stripes_need_granules_that_add_up) {
  HeldObject held(5 * kGranuleBytes, 5 * kGranuleBytes, 1, 1);
  ObjectDemand demand;
  demand.ranges = {{kGranuleBytes, kGranuleBytes}};
  const auto plan = held.plan(demand, PlanLimits());
  const auto unknown = ObjectIntegrity::make(plan, ObjectExpectation());
  BOOST_REQUIRE(!unknown.ok());
  BOOST_TEST((unknown.error().code() == Errc::kInvalidArgument));
  ObjectExpectation wrong = held.granules();
  BOOST_TEST(ObjectIntegrity::make(plan, wrong).ok());
  wrong.granules[0][4] ^= 1;  // one that is not even read
  const auto refused = ObjectIntegrity::make(plan, wrong);
  BOOST_REQUIRE(!refused.ok());
  BOOST_TEST((refused.error().code() == Errc::kChecksumMismatch));
  wrong.granules[0].pop_back();
  BOOST_TEST(!ObjectIntegrity::make(plan, wrong).ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
