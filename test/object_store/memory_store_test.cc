#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "engine/base/region_table.h"
#include "test/object_store/content.h"
#include "test/object_store/disk_machine.h"
#include "test/object_store/store_kinds.h"
#include "test/object_store/store_rig.h"

namespace corail::test {
namespace {

constexpr std::uint64_t kStripe = 2 * kGranuleBytes;

struct MemoryStore : StoreRig, InMemory {
  MemoryStore() { BOOST_REQUIRE(start(medium(executor())).ok()); }
  ~MemoryStore() { stop(); }
};

BOOST_AUTO_TEST_SUITE(memory_store)

BOOST_FIXTURE_TEST_CASE(full_memory_is_typed_and_the_old_generation_stays, MemoryStore) {
  BOOST_REQUIRE(put("k", 1, kCapacity / 2).ok());
  BOOST_TEST((code_of(put("k", 2, kCapacity)) == Errc::kOutOfMemory));
  BOOST_TEST((is_content(*get("k"), 1, kCapacity / 2)));
  BOOST_TEST(run(store().erase("k", std::nullopt)).ok());
  settle();
  BOOST_TEST(nothing_left());
  BOOST_TEST(put("k", 2, kCapacity).ok());
}

BOOST_FIXTURE_TEST_CASE(a_stripe_longer_than_the_memory_is_too_large, MemoryStore) {
  PutRequest request = StoreRig::request("k", 2 * kCapacity);
  request.stripe_size = 2 * kCapacity;
  BOOST_TEST((code_of(put(request, 1)) == Errc::kTooLarge));
}

// What a rail's read is told: each stripe's bytes, in a region that the node has published.
BOOST_FIXTURE_TEST_CASE(stripes_lie_in_published_regions, MemoryStore) {
  BOOST_REQUIRE(put("k", 1, kSize).ok());
  const auto content = content_of(1, kSize);
  const auto leased = lease("k");
  const auto places = store().places(*leased);
  BOOST_REQUIRE_MESSAGE(places.ok(), text_of(places));
  BOOST_TEST(places->in_memory);
  BOOST_REQUIRE(places->stripes.size() == 4U);
  const auto table = registry().snapshot();
  for (std::uint32_t i = 0; i < 4; ++i) {
    const StripeMemory& stripe = places->stripes[i];
    BOOST_TEST(stripe.index == i);
    const auto bytes = stripe.bytes.bytes;
    const auto expected =
        std::span(content).subspan(i * kStripe, std::min(kStripe, kSize - i * kStripe));
    BOOST_TEST(std::ranges::equal(bytes, expected));
    const std::ptrdiff_t found = table->find(stripe.address(), bytes.size());
    BOOST_REQUIRE(found >= 0);
    const Region& region = table->regions()[static_cast<std::size_t>(found)];
    BOOST_TEST((region.id == stripe.region));
    BOOST_TEST(region.base + stripe.region_offset == stripe.address());
  }
  store().release(*leased);
  BOOST_TEST((code_of(store().places(*leased)) == Errc::kLeaseExpired));
}

BOOST_AUTO_TEST_CASE(regions_are_published_as_long_as_the_memory_is_and_stripes_may_stay_longer) {
  RegionRegistry registry;
  ObjectMemoryOptions options;
  options.nodes = {{0, kMiB}, {1, 2 * kMiB}};
  auto memory = ObjectMemory::create(options, registry);
  BOOST_REQUIRE(memory.ok());
  BOOST_TEST(registry.snapshot()->regions().size() == 2U);
  BOOST_TEST((*memory)->capacity_bytes() == 3 * kMiB);
  // The second slab's turn, then what only it has room for, then nothing.
  const auto one = (*memory)->allocate(kMiB, 1);
  const auto two = (*memory)->allocate(kMiB, 0);
  const auto three = (*memory)->allocate(kMiB, 0);
  BOOST_REQUIRE((one.ok() && two.ok() && three.ok()));
  BOOST_TEST(((*one)->region() == (*three)->region()));
  BOOST_TEST(((*one)->region() != (*two)->region()));
  BOOST_TEST((code_of((*memory)->allocate(1, 0)) == Errc::kOutOfMemory));
  memory->reset();
  BOOST_TEST(registry.snapshot()->regions().empty());
  std::ranges::fill((*one)->bytes(), std::byte{1});  // still mapped
  options.nodes = {{0, kMiB}, {0, kMiB}};
  BOOST_TEST((code_of(ObjectMemory::create(options, registry)) == Errc::kInvalidArgument));
  options.nodes = {};
  BOOST_TEST((code_of(ObjectMemory::create(options, registry)) == Errc::kInvalidArgument));
  BOOST_TEST(registry.snapshot()->regions().empty());
}

// I6: neither the end of the lease nor that of the object takes pinned bytes away.
BOOST_FIXTURE_TEST_CASE(pinned_bytes_survive_lease_and_object, MemoryStore) {
  BOOST_REQUIRE(put("k", 1, kSize).ok());
  const auto content = content_of(1, kSize);
  const auto leased = lease("k");
  auto pinned = store().pin(*leased, kStripe + 5, 1000);
  BOOST_REQUIRE_MESSAGE(pinned.ok(), text_of(pinned));
  BOOST_REQUIRE(run(store().erase("k", std::nullopt)).ok());
  store().release(*leased);
  settle();
  BOOST_TEST(!nothing_left());
  const std::uint64_t free = memory().free_bytes();
  BOOST_REQUIRE(put("other", 2, free).ok());  // whatever is free is written over
  const auto expected = std::span(content).subspan(kStripe + 5, 1000);
  BOOST_TEST(std::ranges::equal(pinned->bytes, expected));
  pinned->pin.reset();
  BOOST_TEST(memory().free_bytes() == kStripe);
}

BOOST_FIXTURE_TEST_CASE(only_a_range_of_one_stripe_is_pinned, MemoryStore) {
  BOOST_REQUIRE(put("k", 1, kSize).ok());
  const auto leased = lease("k");
  const auto pin = [&](std::uint64_t offset, std::uint64_t length) {
    return code_of(store().pin(*leased, offset, length));
  };
  BOOST_TEST((pin(0, kStripe) == Errc::kUnset));
  BOOST_TEST((pin(3 * kStripe, kSize - 3 * kStripe) == Errc::kUnset));
  BOOST_TEST((pin(1, kStripe) == Errc::kInvalidArgument));
  BOOST_TEST((pin(3 * kStripe, kStripe) == Errc::kInvalidArgument));
  BOOST_TEST((pin(4 * kStripe, 1) == Errc::kInvalidArgument));
  BOOST_TEST((pin(kStripe << 32U, 1) == Errc::kInvalidArgument));  // its index has 33 bits
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  BOOST_TEST((pin(kMost, kMost) == Errc::kInvalidArgument));
  BOOST_TEST((code_of(store().pin(LeaseId{BootId(77), 1}, 0, 1)) == Errc::kNotFound));
}

BOOST_AUTO_TEST_CASE(on_directories_there_is_nothing_to_pin) {
  DiskMachine machine;
  BOOST_REQUIRE(machine.put("k", 1, kSize).ok());
  const auto leased = machine.lease("k");
  const auto places = machine.store().places(*leased);
  BOOST_TEST((places.ok() && !places->in_memory && places->stripes.empty()));
  const auto pinned = machine.store().pin(*leased, 0, 1);
  BOOST_TEST((pinned.ok() && !pinned->pin && pinned->bytes.empty()));
  BOOST_TEST((code_of(machine.store().pin(*leased, kSize, 1)) == Errc::kInvalidArgument));
}

// What was in memory dies with the process, and no later put may be taken for it.
BOOST_FIXTURE_TEST_CASE(a_generation_of_an_earlier_life_is_lost, MemoryStore) {
  const auto before = put("k", 1, kSize);
  BOOST_REQUIRE(before.ok());
  BOOST_REQUIRE(start(medium(executor())).ok());
  const auto ask = [&](ObjectGeneration generation) {
    return code_of(store().lease("k", generation, Duration(0)));
  };
  BOOST_TEST((ask(*before) == Errc::kStripeLost));
  BOOST_TEST((code_of(lease("k")) == Errc::kNotFound));
  const auto after = put("k", 2, kSize);
  BOOST_TEST((*after != *before));
  BOOST_TEST((ask(*before) == Errc::kStripeLost));
  BOOST_TEST((ask(*after) == Errc::kUnset));
  const auto newer = put("k", 3, kSize);
  BOOST_TEST((ask(*after) == Errc::kGenerationChanged));
  BOOST_TEST(newer->value() < kMaxObjectGeneration / 2 + kMaxObjectGeneration % 2);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace corail::test
